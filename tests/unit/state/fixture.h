/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A folder with a store, commits that are waited for, and what a store loads as lines of text. */

#include "state/store.h"
#include "tests/unit/unit.h"

#include <stdbool.h>

#include <dirent.h>
#include <poll.h>
#include <unistd.h>

enum { DEADLINE_MS = 180000 };

struct keeper {
    const char *name;
    struct store *(*open)(const char *path, struct error *err);
    bool on_disk; /* closing and opening brings everything back */
};

static inline struct store *open_memory(const char *path, struct error *err)
{
    return store_memory_open(err);
}

/* The key lies beside the file. */
static inline struct store *open_sqlite(const char *path, struct error *err)
{
    char key_file[160];
    snprintf(key_file, sizeof key_file, "%s.key", path);
    return store_sqlite_open(path, key_file, err);
}

static const struct keeper keeper_memory = {"memory", open_memory, false};
static const struct keeper keeper_sqlite = {"sqlite", open_sqlite, true};

struct fixture {
    const struct keeper *keeper;
    char folder[64];
    char path[96];
    struct store *store;
};

/* -- folder and store -- */

static inline void fixture_open(struct fixture *fixture)
{
    struct error err = {0};
    fixture->store = fixture->keeper->open(fixture->path, &err);
    if (!fixture->store)
        fail_msg("%s", err.text);
}

static inline void fixture_reopen(struct fixture *fixture)
{
    if (!fixture->keeper->on_disk)
        return;
    store_close(fixture->store);
    fixture_open(fixture);
}

/* *state is the keeper, or NULL for SQLite, whose store is then left to the test to open. */
static inline int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    strcpy(fixture->folder, "/tmp/mcast-state-XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    snprintf(fixture->path, sizeof fixture->path, "%s/state.db", fixture->folder);
    fixture->keeper = *state ? *state : &keeper_sqlite;
    if (*state)
        fixture_open(fixture);
    *state = fixture;
    return 0;
}

static inline int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    store_close(fixture->store);
    DIR *folder = opendir(fixture->folder);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[sizeof fixture->folder + sizeof entry->d_name];
        snprintf(name, sizeof name, "%s/%s", fixture->folder, entry->d_name);
        unlink(name);
    }
    closedir(folder);
    assert_int_equal(rmdir(fixture->folder), 0);
    free(fixture);
    return 0;
}

/* -- records -- */

static inline struct record reservation(uint64_t number, const char *job)
{
    return (struct record){.kind = RECORD_RESERVATION,
                           .u.reservation = {.number = number,
                                             .cluster = "elcap",
                                             .job = job,
                                             .uid = 5588,
                                             .node_count = 128,
                                             .vnis = {1024},
                                             .vni_count = 1,
                                             .vni_asked = 1,
                                             .traffic_classes = TC_BEST_EFFORT | TC_LOW_LATENCY,
                                             .wish = WISH_AUTO,
                                             .state = JOB_ACTIVE,
                                             .hwcoll = HWCOLL_INELIGIBLE,
                                             .created_ms = 1700000000000}};
}

static inline struct record gone(uint64_t number)
{
    return (struct record){.kind = RECORD_GONE, .u.gone = number};
}

static inline struct record event(uint64_t seq, uint64_t number)
{
    return (struct record){.kind = RECORD_EVENT,
                           .u.event = {.seq = seq,
                                       .time_ms = 1700000000000,
                                       .number = number,
                                       .cluster = "elcap",
                                       .job = "f1",
                                       .uid = 5588,
                                       .kind = EVENT_RESERVED}};
}

static inline struct record shared_vni(uint16_t vni, const char *name)
{
    return (struct record){.kind = RECORD_SHARED_VNI,
                           .u.shared_vni = {.created_ms = 1700000000000,
                                            .expires_ms = 1700000001000,
                                            .uid = 5588,
                                            .vni = vni,
                                            .state = SHARED_OPEN,
                                            .name = name,
                                            .users = "1000,1001",
                                            .clusters = "elcap"}};
}

static inline struct record partitions(const char *text)
{
    return (struct record){.kind = RECORD_PARTITIONS, .u.partitions = text};
}

static inline struct record prune(uint64_t seq)
{
    return (struct record){.kind = RECORD_PRUNE, .u.prune = seq};
}

static inline struct record founded(void)
{
    return (struct record){.kind = RECORD_FOUNDED};
}

/* -- commits -- */

struct outcome {
    int calls;
    struct commit_result result;
    struct batch *failed;
};

static inline void note_outcome(void *arg, const struct commit_result *result, struct batch *failed)
{
    struct outcome *outcome = arg;
    outcome->calls++;
    outcome->result = *result;
    outcome->failed = failed;
}

static inline void await_readable(struct store *store)
{
    struct pollfd readable = {.fd = store_fd(store), .events = POLLIN};
    assert_int_equal(poll(&readable, 1, DEADLINE_MS), 1);
}

static inline struct batch *batch_of(const struct record *records, size_t count)
{
    struct batch *batch = batch_create();
    assert_non_null(batch);
    for (size_t i = 0; i < count; i++)
        batch_add(batch, &records[i]);
    return batch;
}

static inline struct outcome commit_batch(struct store *store, struct batch *batch)
{
    struct outcome outcome = {0};
    store_commit(store, batch, note_outcome, &outcome);
    assert_int_equal(outcome.calls, 0);
    await_readable(store);
    store_dispatch(store);
    assert_int_equal(outcome.calls, 1);
    return outcome;
}

static inline void commit_records(struct store *store, const struct record *records, size_t count)
{
    struct outcome outcome = commit_batch(store, batch_of(records, count));
    if (outcome.result.code)
        fail_msg("%s", outcome.result.error.text);
    assert_null(outcome.failed);
}

#define COMMIT(store, ...)                                                                         \
    commit_records(store, (const struct record[]){__VA_ARGS__},                                    \
                   sizeof((const struct record[]){__VA_ARGS__}) / sizeof(struct record))

/* -- what is in it -- */

static inline int write_line(void *arg, const struct record *record)
{
    FILE *out = arg;
    const struct reservation_record *r = &record->u.reservation;
    const struct event_record *e = &record->u.event;
    switch (record->kind) {
    case RECORD_COUNTERS:
        fprintf(out, "counters %ju %ju\n", (uintmax_t)record->u.counters.last_number,
                (uintmax_t)record->u.counters.last_seq);
        return 0;
    case RECORD_FOUNDED:
        fprintf(out, "founded\n");
        return 0;
    case RECORD_FACTS:
        fprintf(out, "facts %ju %u %u %s %jd %jd\n", (uintmax_t)record->u.facts.round_number,
                record->u.facts.next_vni, record->u.facts.suspect, record->u.facts.boot,
                (intmax_t)record->u.facts.clock_ms, (intmax_t)record->u.facts.holds_from_ms);
        return 0;
    case RECORD_PARTITIONS:
        fprintf(out, "partitions %s", record->u.partitions);
        return 0;
    case RECORD_SHARED_VNI:
        fprintf(out, "shared %u %s of %u for %s in %s, %s\n", record->u.shared_vni.vni,
                record->u.shared_vni.name, record->u.shared_vni.uid, record->u.shared_vni.users,
                record->u.shared_vni.clusters, shared_state_word(record->u.shared_vni.state));
        return 0;
    case RECORD_ROOT_KEYS:
        fprintf(out, "root keys %s\n", secret_expose(record->u.root_keys));
        return 0;
    case RECORD_RESERVATION:
        fprintf(out, "reservation %ju %s-%s\n", (uintmax_t)r->number, r->cluster, r->job);
        return 0;
    case RECORD_EVENT:
        fprintf(out, "event %ju of %ju\n", (uintmax_t)e->seq, (uintmax_t)e->number);
        return 0;
    case RECORD_NODE:
        fprintf(out, "node %ju %s %s%s%s", (uintmax_t)record->u.node.number, record->u.node.node,
                node_state_word(record->u.node.state), record->u.node.services ? " " : "",
                record->u.node.services ? record->u.node.services : "");
        if (record->u.node.sums > 0)
            fprintf(out, " after sum %u", record->u.node.sums);
        fprintf(out, "\n");
        return 0;
    case RECORD_SUM:
        fprintf(out, "sum %ju.%u %s %s\n", (uintmax_t)record->u.sum.number, record->u.sum.sum,
                record->u.sum.nodes, node_state_word(record->u.sum.state));
        return 0;
    case RECORD_TRAFFIC:
        fprintf(out, "traffic %ju of %s-%s, %u nodes\n", (uintmax_t)record->u.traffic.seq,
                record->u.traffic.cluster, record->u.traffic.job, record->u.traffic.told);
        return 0;
    case RECORD_NODE_NICS:
        fprintf(out, "NICs of %s %s\n", record->u.nics.node, record->u.nics.nics);
        return 0;
    case RECORD_CLEANUP:
        fprintf(out, "cleanup %ju %s%s\n", (uintmax_t)record->u.cleanup.number,
                record->u.cleanup.step, record->u.cleanup.below ? " and below" : "");
        return 0;
    case RECORD_GONE:
    case RECORD_PRUNE:
    case RECORD_CLEANED:
    case RECORD_TRAFFIC_GONE:
    case RECORD_NODE_NICS_GONE:
    case RECORD_SHARED_GONE:
        break;
    }
    fprintf(out, "unexpected kind %d\n", (int)record->kind);
    return 0;
}

/* store_load, until all was loaded. */
static inline int load_all(struct store *store, store_each_fn *each, void *arg, struct error *err)
{
    int code;
    while ((code = store_load(store, each, arg, err)) == 1)
        await_readable(store);
    return code;
}

/* Every record that the store loads, a line each; free it. */
static inline char *ledger_text(struct store *store)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    struct error err = {0};
    int code = load_all(store, write_line, out, &err);
    fclose(out);
    if (code)
        fail_msg("load: %s", err.text);
    return text;
}

static inline void assert_ledger(struct store *store, const char *expected)
{
    char *text = ledger_text(store);
    assert_string_equal(text, expected);
    free(text);
}
