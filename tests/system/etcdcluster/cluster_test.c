/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/testcert.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/etcdcluster.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

static void assert_holds(struct etcdcluster *cluster, const char *key, const char *value)
{
    char *found = etcdcluster_get(cluster, key);

    assert_non_null(found);
    assert_string_equal(found, value);
    free(found);
}

static void cluster__one_member_keeps_keys_through_kill_9(void **state)
{
    struct etcdcluster *cluster = etcdcluster_create(&(struct etcdcluster_options){0});

    assert_non_null(cluster);
    assert_int_equal(etcdcluster_members(cluster), 1);
    assert_string_equal(etcdcluster_endpoints(cluster), etcdcluster_url(cluster, 0));
    assert_int_equal(etcdcluster_put(cluster, "/a/1", "one"), 0);
    assert_int_equal(etcdcluster_put(cluster, "/a/2", ""), 0);
    assert_int_equal(etcdcluster_put(cluster, "/b", "~~~?>>?"), 0);
    etcdcluster_kill(cluster, 0);
    assert_int_equal(etcdcluster_restart(cluster, 0), 0);
    assert_int_equal(etcdcluster_await(cluster), 0);
    assert_holds(cluster, "/a/1", "one");
    assert_holds(cluster, "/a/2", "");
    assert_holds(cluster, "/b", "~~~?>>?");
    assert_null(etcdcluster_get(cluster, "/a"));
    assert_int_equal(etcdcluster_count(cluster, "/a/"), 2);
    assert_int_equal(etcdcluster_count(cluster, ""), 3);
    assert_int_equal(etcdcluster_wipe(cluster), 0);
    assert_int_equal(etcdcluster_count(cluster, ""), 0);
    etcdcluster_destroy(cluster);
}

static void cluster__three_members_outlive_any_one(void **state)
{
    struct etcdcluster *cluster = etcdcluster_create(&(struct etcdcluster_options){.members = 3});
    char urls[256];

    assert_non_null(cluster);
    snprintf(urls, sizeof urls, "%s, %s, %s", etcdcluster_url(cluster, 0),
             etcdcluster_url(cluster, 1), etcdcluster_url(cluster, 2));
    assert_string_equal(etcdcluster_endpoints(cluster), urls);
    const int first = etcdcluster_leader(cluster);
    assert_in_range(first, 0, 2);
    etcdcluster_kill(cluster, (unsigned)first);
    assert_int_equal(etcdcluster_await(cluster), 0);
    assert_int_equal(etcdcluster_put(cluster, "/k", "without the first"), 0);
    assert_int_equal(etcdcluster_restart(cluster, (unsigned)first), 0);
    assert_int_equal(etcdcluster_await(cluster), 0);

    const int second = etcdcluster_leader(cluster);
    assert_in_range(second, 0, 2);
    etcdcluster_pause(cluster, (unsigned)second);
    assert_int_equal(etcdcluster_await(cluster), 0);
    assert_holds(cluster, "/k", "without the first");
    assert_int_equal(etcdcluster_put(cluster, "/k", "without the second"), 0);
    etcdcluster_resume(cluster, (unsigned)second);
    assert_int_equal(etcdcluster_await(cluster), 0);
    etcdcluster_kill(cluster, 0);
    assert_holds(cluster, "/k", "without the second");
    etcdcluster_destroy(cluster);
}

/* B8: a client without a certificate of the authority reads nothing. */
static void cluster__tls_is_mutual(void **state)
{
    char folder[FOLDER_PATH_SIZE], path[128], cert[128], key[128], ca[128];
    struct plainhttp *http;
    struct plainhttp_reply reply;

    assert_int_equal(folder_create(folder), 0);
    authority_equip(folder);
    struct etcdcluster *cluster =
        etcdcluster_create(&(struct etcdcluster_options){.members = 3, .certificates = folder});
    assert_non_null(cluster);
    assert_int_equal(etcdcluster_put(cluster, "/k", "v"), 0);
    assert_holds(cluster, "/k", "v");

    http = plainhttp_create(etcdcluster_url(cluster, 0), NULL);
    assert_int_equal(plainhttp_trust_anyone(http), 0);
    assert_int_equal(plainhttp_probe(http, "/health"), 0);
    folder_path(ca, sizeof ca, folder, "ca.pem");
    folder_path(cert, sizeof cert, folder, "client.pem");
    folder_path(key, sizeof key, folder, "client.key");
    assert_int_equal(plainhttp_use_certificate(http, ca, cert, key), 0);
    assert_int_equal(plainhttp_call(http, "GET", "/health", NULL, &reply), 200);
    plainhttp_reply_release(&reply);
    plainhttp_destroy(http);
    etcdcluster_destroy(cluster);
    folder_path(path, sizeof path, folder, "client.key");
    assert_int_equal(access(path, R_OK), 0); /* what the cluster was given stays the test's */
    folder_destroy(folder);
}

/* Options reach etcd: a small quota is soon full, and then changes are refused. */
static void cluster__a_full_quota_refuses_changes(void **state)
{
    enum { VALUE = 1 << 20, PUTS_MAX = 64 };
    struct etcdcluster *cluster =
        etcdcluster_create(&(struct etcdcluster_options){.quota_bytes = 4 * VALUE});
    char *value = malloc(VALUE + 1);
    int puts = 0;

    assert_non_null(cluster);
    assert_non_null(value);
    memset(value, 'v', VALUE);
    value[VALUE] = '\0';
    while (puts < PUTS_MAX && etcdcluster_put(cluster, "/large", value) == 0)
        puts++;
    assert_in_range(puts, 1, PUTS_MAX - 1);
    free(value);
    etcdcluster_destroy(cluster);
}

static bool has_ended(void *arg)
{
    return !process_alive(arg);
}

/* The port of a killed member is taken when it comes back, and free a moment later. */
static void cluster__a_taken_port_is_survived(void **state)
{
    struct etcdcluster *cluster = etcdcluster_create(&(struct etcdcluster_options){0});
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    assert_true(fd >= 0);
    assert_non_null(cluster);
    address.sin_port = htons((uint16_t)etcdcluster_port(cluster, 0));
    etcdcluster_kill(cluster, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(etcdcluster_restart(cluster, 0), 0);
    assert_true(await(has_ended, etcdcluster_process(cluster, 0), AWAIT_DEADLINE_MS));
    close(fd);
    assert_int_equal(etcdcluster_await(cluster), 0);
    etcdcluster_destroy(cluster);
}

UNIT_MAIN(cmocka_unit_test(cluster__one_member_keeps_keys_through_kill_9),
          cmocka_unit_test(cluster__three_members_outlive_any_one),
          cmocka_unit_test(cluster__tls_is_mutual),
          cmocka_unit_test(cluster__a_full_quota_refuses_changes),
          cmocka_unit_test(cluster__a_taken_port_is_survived))
