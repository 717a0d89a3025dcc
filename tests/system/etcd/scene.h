/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a test of the ledger on etcd begins with: members without keys, a folder with a key file, a
 * proxy before the first member. Tests open the brokers that they want. */

#include "tests/system/etcd/ledger.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/tcpproxy.h"

#define PREFIX "/mcastd/elcap"

struct scene {
    char folder[FOLDER_PATH_SIZE], key_file[128], url[64];
    struct etcdcluster *members; /* of the whole program */
    struct tcpproxy *proxy;
    const char *urls[2];                 /* the proxy's; a test may add one */
    struct etcd_options options, behind; /* of a broker; of one behind the proxy */
    struct broker broker;                /* closed with the scene, if it was opened */
};

static uint64_t last_lease;

static inline void scene_reach(struct scene *scene)
{
    tcpproxy_destroy(scene->proxy);
    scene->proxy = tcpproxy_create(etcdcluster_port(cluster, 0));
    assert_non_null(scene->proxy);
    snprintf(scene->url, sizeof scene->url, "http://127.0.0.1:%d", tcpproxy_port(scene->proxy));
    scene->urls[0] = scene->url;
    scene->options = scene->behind = options_of(PREFIX, scene->key_file);
    scene->behind.endpoints = scene->urls;
    scene->behind.endpoint_count = 1;
}

static inline int scene_setup(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    *state = scene;
    scene->members = cluster;
    assert_int_equal(etcdcluster_wipe(cluster), 0);
    assert_int_equal(folder_create(scene->folder), 0);
    make_key(folder_path(scene->key_file, sizeof scene->key_file, scene->folder, "state.key"));
    scene_reach(scene);
    return 0;
}

static inline int scene_teardown(void **state)
{
    struct scene *scene = *state;
    broker_close(&scene->broker);
    tcpproxy_destroy(scene->proxy);
    if (cluster != scene->members)
        etcdcluster_destroy(cluster);
    cluster = scene->members;
    folder_destroy(scene->folder);
    free(scene);
    return 0;
}

/* Other members from here on. */
static inline void scene_move(struct scene *scene, const struct etcdcluster_options *options)
{
    cluster = etcdcluster_create(options);
    assert_non_null(cluster);
    scene_reach(scene);
}

/* A broker that leads next, and has loaded what is there. */
static inline struct broker broker_loaded(const struct etcd_options *options)
{
    struct broker broker = broker_of(options, ++last_lease);
    broker_load(&broker);
    return broker;
}

static inline void broker_resign(struct broker *broker)
{
    assert_outcome(ask(broker->etcd, LEADER_RESIGN, broker->lease), LEADER_OK);
    broker_close(broker);
}

static inline void begin(struct broker *broker, struct outcome *outcome, struct record record)
{
    store_commit(broker->store, batch_of(&record, 1), note_outcome, outcome);
}

static inline void end(struct broker *broker, struct outcome *outcome)
{
    await_readable(broker->store);
    store_dispatch(broker->store);
    assert_int_equal(outcome->calls, 1);
}

/* Both for await. */
static inline bool asked(void *proxy)
{
    return tcpproxy_waiting(proxy, TCPPROXY_TO_SERVER) > 0;
}

static inline bool answered(void *proxy)
{
    return tcpproxy_waiting(proxy, TCPPROXY_TO_CLIENT) > 0;
}

static inline void put(const char *key, const char *value)
{
    assert_int_equal(etcdcluster_put(cluster, key, value), 0);
}

/* A call of etcd that must succeed. The reply is to be released. */
static inline struct plainhttp_reply called(const char *path, const char *body)
{
    struct plainhttp_reply reply;
    if (etcdcluster_call(cluster, 0, path, body, &reply) != 200)
        fail_msg("%s: %s", path, reply.text ? reply.text : "no answer");
    return reply;
}

static inline void call(const char *path, const char *body)
{
    struct plainhttp_reply reply = called(path, body);
    plainhttp_reply_release(&reply);
}

/* The alarm that etcd raises when it has no space. */
static inline void set_alarm(bool on)
{
    struct plainhttp_reply reply = called("/v3/kv/range", "{\"key\":\"AA==\"}");
    char body[128];
    snprintf(
        body, sizeof body, "{\"action\":\"%s\",\"memberID\":\"%s\",\"alarm\":\"NOSPACE\"}",
        on ? "ACTIVATE" : "DEACTIVATE",
        json_string_value(json_object_get(json_object_get(reply.json, "header"), "member_id")));
    plainhttp_reply_release(&reply);
    call("/v3/maintenance/alarm", body);
}

/* Deletes what is before the present revision, as auto-compaction does. */
static inline void compact(void)
{
    struct plainhttp_reply reply = called("/v3/kv/range", "{\"key\":\"AA==\"}");
    char body[128];
    snprintf(body, sizeof body, "{\"revision\":\"%s\"}",
             json_string_value(json_object_get(json_object_get(reply.json, "header"), "revision")));
    plainhttp_reply_release(&reply);
    call("/v3/kv/compaction", body);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, scene_teardown)
