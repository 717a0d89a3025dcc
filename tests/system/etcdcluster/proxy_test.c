/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/await.h"
#include "tests/system/rig/etcdcluster.h"
#include "tests/system/rig/tcpproxy.h"
#include "tests/unit/unit.h"

#include <pthread.h>

/* One member of etcd behind the proxy, and a client of it. */
struct scene {
    struct etcdcluster *cluster;
    struct tcpproxy *proxy;
    struct plainhttp *http;
};

static int set_up(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    char url[64];

    *state = scene;
    scene->cluster = etcdcluster_create(&(struct etcdcluster_options){0});
    assert_non_null(scene->cluster);
    scene->proxy = tcpproxy_create(etcdcluster_port(scene->cluster, 0));
    assert_non_null(scene->proxy);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", tcpproxy_port(scene->proxy));
    scene->http = plainhttp_create(url, NULL);
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    plainhttp_destroy(scene->http);
    tcpproxy_destroy(scene->proxy);
    etcdcluster_destroy(scene->cluster);
    free(scene);
    return 0;
}

/* "k" := "a" or "b" */
#define PUT_A "{\"key\":\"aw==\",\"value\":\"YQ==\"}"
#define PUT_B "{\"key\":\"aw==\",\"value\":\"Yg==\"}"

static int put(struct scene *scene, const char *body)
{
    struct plainhttp_reply reply;
    const int status = plainhttp_call(scene->http, "POST", "/v3/kv/put", body, &reply);

    plainhttp_reply_release(&reply);
    return status;
}

static void assert_k(struct scene *scene, const char *wanted)
{
    char *value = etcdcluster_get(scene->cluster, "k");

    assert_non_null(value);
    assert_string_equal(value, wanted);
    free(value);
}

static void *put_a(void *scene)
{
    return (void *)(intptr_t)put(scene, PUT_A);
}

static bool waits_for_client(void *scene)
{
    return tcpproxy_waiting(((struct scene *)scene)->proxy, TCPPROXY_TO_CLIENT) > 0;
}

static bool waits_for_server(void *scene)
{
    return tcpproxy_waiting(((struct scene *)scene)->proxy, TCPPROXY_TO_SERVER) > 0;
}

static void proxy__passes_large_and_small(void **state)
{
    enum { LARGE = 1000000 };
    struct scene *scene = *state;
    char *body = malloc(LARGE + 64);

    assert_int_equal(put(scene, PUT_A), 200);
    assert_k(scene, "a");
    assert_non_null(body);
    int length = snprintf(body, LARGE + 64, "{\"key\":\"aw==\",\"value\":\"");
    memset(body + length, 'A', LARGE);
    snprintf(body + length + LARGE, 8, "\"}");
    assert_int_equal(put(scene, body), 200);
    free(body);
    char *value = etcdcluster_get(scene->cluster, "k");
    assert_non_null(value); /* bytes of 0 */
    free(value);
    assert_true(tcpproxy_passed(scene->proxy, TCPPROXY_TO_SERVER) > LARGE);
}

/* A request that waits in the network is acted on when the cut ends, not before. */
static void proxy__cut_to_the_server(void **state)
{
    struct scene *scene = *state;
    pthread_t thread;
    void *status;

    assert_int_equal(put(scene, PUT_B), 200);
    tcpproxy_cut(scene->proxy, TCPPROXY_TO_SERVER);
    assert_int_equal(pthread_create(&thread, NULL, put_a, scene), 0);
    assert_true(await(waits_for_server, scene, AWAIT_DEADLINE_MS));
    assert_k(scene, "b");
    tcpproxy_cut(scene->proxy, 0);
    assert_int_equal(pthread_join(thread, &status), 0);
    assert_int_equal((intptr_t)status, 200);
    assert_k(scene, "a");
}

/* The answer is lost, what was asked for is done. */
static void proxy__cut_to_the_client(void **state)
{
    struct scene *scene = *state;
    pthread_t thread;
    void *status;

    assert_int_equal(put(scene, PUT_B), 200);
    tcpproxy_cut(scene->proxy, TCPPROXY_TO_CLIENT);
    assert_int_equal(pthread_create(&thread, NULL, put_a, scene), 0);
    assert_true(await(waits_for_client, scene, AWAIT_DEADLINE_MS));
    assert_k(scene, "a");
    tcpproxy_reset(scene->proxy, true);
    assert_int_equal(pthread_join(thread, &status), 0);
    assert_int_equal((intptr_t)status, 0);
    assert_int_equal(put(scene, PUT_B), 0); /* refused */
    tcpproxy_reset(scene->proxy, false);
    tcpproxy_cut(scene->proxy, 0);
    assert_int_equal(put(scene, PUT_B), 200);
}

static void proxy__a_delay_is_at_least_as_long(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(put(scene, PUT_A), 200);
    tcpproxy_delay(scene->proxy, 150);
    const int64_t began = await_now_ns();
    assert_int_equal(put(scene, PUT_B), 200);
    assert_true(await_now_ns() - began >= 300000000); /* there and back */
}

/* B7: a copy of an old request that comes late is acted on, when nothing guards it. */
static void proxy__a_copy_comes_late(void **state)
{
    struct scene *scene = *state;

    tcpproxy_keep(scene->proxy, "YQ==");
    assert_int_equal(put(scene, PUT_B), 200);
    assert_false(tcpproxy_kept(scene->proxy));
    assert_int_equal(put(scene, PUT_A), 200);
    assert_true(tcpproxy_kept(scene->proxy));
    assert_int_equal(put(scene, PUT_B), 200);
    assert_int_equal(tcpproxy_replay(scene->proxy), 200);
    assert_k(scene, "a");
    assert_int_equal(put(scene, PUT_B), 200);
    assert_int_equal(tcpproxy_replay(scene->proxy), 200);
    assert_k(scene, "a");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
UNIT_MAIN(TEST(proxy__passes_large_and_small), TEST(proxy__cut_to_the_server),
          TEST(proxy__cut_to_the_client), TEST(proxy__a_delay_is_at_least_as_long),
          TEST(proxy__a_copy_comes_late))
