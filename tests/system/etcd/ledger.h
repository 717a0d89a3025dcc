/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Brokers as far as their ledger on etcd is concerned: one asks, wins, and keeps records. The
 * members are those of the whole test program. */

#include "state/etcd/etcd.h"
#include "tests/system/rig/etcdcluster.h"
#include "tests/unit/state/fixture.h"
#include "tokens/seal_key.h"

#include <time.h>

enum { LEASE_MS = 60000, TRY_MS = 30000, URLS_MAX = 4 };

static struct etcdcluster *cluster;

static inline int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct broker {
    struct etcd *etcd;
    struct store *store;
    uint64_t lease, revision;
};

/* The options of a broker of this cluster; the rest may be changed. */
static inline struct etcd_options options_of(const char *prefix, const char *key_file)
{
    static const char *urls[URLS_MAX];
    for (unsigned i = 0; i < etcdcluster_members(cluster); i++)
        urls[i] = etcdcluster_url(cluster, i);
    return (struct etcd_options){.endpoints = urls,
                                 .endpoint_count = etcdcluster_members(cluster),
                                 .prefix = prefix,
                                 .key_file = key_file,
                                 .advertise = "https://m1:7470",
                                 .lease_ms = LEASE_MS};
}

static inline struct etcd *etcd_of(const struct etcd_options *options)
{
    struct error err = {0};
    struct etcd *etcd = etcd_open(options, &err);
    if (!etcd)
        fail_msg("%s", err.text);
    return etcd;
}

static inline struct etcd_answer ask(struct etcd *etcd, enum leader_question question,
                                     uint64_t lease)
{
    struct etcd_answer answer;
    struct pollfd readable = {.fd = etcd_fd(etcd), .events = POLLIN};
    assert_false(etcd_take_answer(etcd, &answer));
    etcd_ask(etcd, &(struct leader_ask){.question = question, .lease = lease}, TRY_MS);
    assert_int_equal(poll(&readable, 1, DEADLINE_MS), 1);
    assert_true(etcd_take_answer(etcd, &answer));
    assert_int_equal(answer.answer.question, question);
    assert_true(answer.answer.sent_ms <= now_ms() && answer.took_us >= 0);
    assert_int_equal(answer.answer.outcome == LEADER_UNKNOWN ||
                         answer.answer.outcome == LEADER_REFUSED,
                     answer.error.text[0] != '\0');
    return answer;
}

static inline void assert_outcome(struct etcd_answer answer, enum leader_outcome outcome)
{
    if (answer.answer.outcome != outcome)
        fail_msg("outcome %d instead of %d: %s", answer.answer.outcome, outcome, answer.error.text);
}

/* Asks until it leads by this lease, and opens the store. */
static inline void broker_lead(struct broker *broker, uint64_t lease)
{
    struct error err = {0};
    assert_outcome(ask(broker->etcd, LEADER_TEST, 0), LEADER_OK);
    assert_outcome(ask(broker->etcd, LEADER_GRANT, lease), LEADER_OK);
    const struct etcd_answer won = ask(broker->etcd, LEADER_CAMPAIGN, lease);
    assert_outcome(won, LEADER_OK);
    assert_int_equal(won.answer.holder, lease);
    broker->lease = lease;
    broker->revision = won.answer.holder_revision;
    broker->store =
        store_etcd_open(broker->etcd, lease, broker->revision, now_ms() + LEASE_MS, &err);
    if (!broker->store)
        fail_msg("%s", err.text);
}

static inline struct broker broker_of(const struct etcd_options *options, uint64_t lease)
{
    struct broker broker = {.etcd = etcd_of(options)};
    broker_lead(&broker, lease);
    return broker;
}

static inline void broker_close(struct broker *broker)
{
    store_close(broker->store);
    etcd_close(broker->etcd);
    *broker = (struct broker){0};
}

static inline int ignore_record(void *arg, const struct record *record)
{
    return 0;
}

static inline void broker_load(struct broker *broker)
{
    struct error err = {0};
    if (load_all(broker->store, ignore_record, NULL, &err) != 0)
        fail_msg("%s", err.text);
}

static inline void make_key(const char *path)
{
    struct error err = {0};
    if (access(path, F_OK) != 0 && seal_key_create(path, (uid_t)-1, (gid_t)-1, &err) != 0)
        fail_msg("%s", err.text);
}

/* ---- for the tests of any keeper (tests/unit/state/store_test.c) ---- */

static struct broker keeping;

/* A store that was there has been closed. */
static inline struct store *open_etcd(const char *path, struct error *err)
{
    static uint64_t lease = 1;
    char key_file[160];
    snprintf(key_file, sizeof key_file, "%s.key", path);
    make_key(key_file);
    if (keeping.etcd) {
        assert_outcome(ask(keeping.etcd, LEADER_RESIGN, keeping.lease), LEADER_OK);
        etcd_close(keeping.etcd);
    }
    const struct etcd_options options = options_of(path, key_file);
    keeping = broker_of(&options, lease++);
    broker_load(&keeping);
    return keeping.store;
}

static const struct keeper keeper_etcd = {"etcd", open_etcd, true};

static inline int cluster_setup(void **state)
{
    cluster = etcdcluster_create(&(struct etcdcluster_options){0});
    return cluster ? 0 : -1;
}

static inline int cluster_teardown(void **state)
{
    etcd_close(keeping.etcd);
    etcdcluster_destroy(cluster);
    return 0;
}
