/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/text.h"
#include "state/etcd/leading.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PAUSE_MS = 20, /* between two tries */
    /* As a value below etcd's --max-request-bytes, 1.5 MiB. */
    PART_BYTES = 1280 * 1024,
    PART_BYTES_MIN = 160 * 1024, /* holds any record but that of partitions with VNIs in more than
                                   PARTITION_RANGES_MAX ranges: 260 KB */
};

/* ---- until it is answered ---- */

static int end_leading(struct leading *leading, struct error *err, const char *why)
{
    assert(why);
    leading->deposed = true;
    if (leading_is_copy(leading))
        return error_set(err, ERROR_IO, "cannot read %s: %s", leading->etcd->name, why);
    return error_set(err, ERROR_NOT_LEADER, "%s; nothing more is written to %s", why,
                     leading->etcd->name);
}

int leading_retry(struct leading *leading, const char *path, json_t *request, size_t answer_max,
                  struct gateway_reply *reply, struct error *err)
{
    assert(answer_max > 0);
    assert(leading->try_ms > 0);
    const char *over =
        leading_is_copy(leading) ? "no answer in time" : "this broker's lease is over";
    char why[ERROR_TEXT_SIZE], *body = wire_text(request);
    int64_t try_ms = leading->try_ms, left_ms;
    (void)snprintf(why, sizeof why, "%s", over);
    for (size_t tries = 1; !leading->deposed; tries++) {
        left_ms = atomic_load(&leading->deadline_ms) - worker_now_us() / 1000;
        if (left_ms <= 0)
            break;
        *reply = etcd_post(leading->etcd, &leading->gateway, path, body, answer_max,
                           try_ms < left_ms ? try_ms : left_ms);
        if (reply->end != GATEWAY_UNKNOWN || reply->too_long) {
            free(body);
            return 0;
        }
        (void)snprintf(why, sizeof why, "%s: %.200s", over, reply->error.text);
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
        if (tries % leading->gateway.access->count == 0 && try_ms < left_ms)
            try_ms *= 2; /* it may take them longer */
    }
    free(body);
    return end_leading(leading, err, leading->deposed ? "another broker leads" : why);
}

/* ---- one guarded transaction ---- */

/* "LEASE:COMMIT"; anything else is as if it were not there. */
static void read_sequence(const char *text, struct commit_seen *seen)
{
    assert(seen->lease == 0);
    char lease[17];
    (void)snprintf(lease, sizeof lease, "%s", text);
    if (strlen(text) < sizeof lease + 1 || text[16] != ':' ||
        strspn(lease, "0123456789abcdef") != 16 ||
        !text_number(text + 17, 10, INT64_MAX, &seen->commit))
        return;
    seen->lease = strtoull(lease, NULL, 16);
}

static bool read_seen(const json_t *body, struct commit_seen *seen)
{
    struct wire_kv leader = {0}, seq = {0};
    *seen = (struct commit_seen){.held = json_is_true(json_object_get(body, "succeeded"))};
    if (seen->held)
        return true;
    const int leads = wire_kv(wire_ranged(body, 0), 0, &leader);
    const int counts = wire_kv(wire_ranged(body, 1), 0, &seq);
    if (leads == 1)
        seen->revision = leader.created;
    if (counts == 1)
        read_sequence(seq.value, seen);
    free(leader.value);
    free(seq.value);
    return leads >= 0 && counts >= 0;
}

static int judge(struct leading *leading, const struct gateway_reply *reply, struct error *err)
{
    assert(reply->end == GATEWAY_ANSWERED);
    struct commit_seen seen;
    struct commit_guard guard = leading->guard;
    if (!read_seen(reply->body, &seen))
        return error_set(err, ERROR_IO, "an answer of %s lacks what was asked for", reply->asked);
    guard.commit++;
    if (commit_judge(&guard, &seen) == COMMIT_DEPOSED)
        return end_leading(leading, err, "another broker leads");
    leading->guard = guard;
    return 0;
}

/* With what is read when a guard failed. */
static json_t *guarded(const struct leading *leading, json_t *operations)
{
    assert(!leading_is_copy(leading));
    const struct etcd *etcd = leading->etcd;
    const struct key founded = key_first(etcd->prefix, RECORD_FOUNDED);
    char before[COMMIT_TEXT_SIZE], after[COMMIT_TEXT_SIZE];
    etcd_sequence(before, leading->guard.lease, leading->guard.commit);
    etcd_sequence(after, leading->guard.lease, leading->guard.commit + 1);
    wire_add(operations, wire_put(&etcd->seq, after, strlen(after), 0));
    if (leading->accepted)
        wire_add(operations,
                 wire_put(&etcd->ledger, leading->amended, strlen(leading->amended), 0));
    if (leading->old)
        wire_add(operations, wire_delete(&founded, NULL));
    return json_pack("{s:[o,o],s:o,s:[o,o]}", "compare",
                     wire_if_created(&etcd->leader, NULL, leading->guard.revision),
                     wire_if_value(&etcd->seq, before), "success", operations, "failure",
                     wire_range(&etcd->leader, NULL, 1), wire_range(&etcd->seq, NULL, 1));
}

const struct error *store_etcd_doubt(const struct store *store)
{
    const struct leading *leading = (const struct leading *)store;
    return leading->amended ? &leading->etcd->doubt : NULL;
}

void store_etcd_accept(struct store *store, bool old)
{
    struct leading *leading = (struct leading *)store;
    assert(leading->amended && leading->committer.in_progress == 0);
    leading->accepted = true;
    leading->old = old;
}

int leading_carry_out(struct leading *leading, json_t *operations, struct error *err)
{
    assert(!leading_is_copy(leading));
    struct gateway_reply reply = {0};
    int code = leading_retry(leading, "/v3/kv/txn", guarded(leading, operations), ETCD_ANSWER_MAX,
                             &reply, err);
    if (code < 0)
        return code;
    switch (reply.end) {
    case GATEWAY_ANSWERED:
        code = judge(leading, &reply, err);
        break;
    case GATEWAY_NO_SPACE:
        code = error_set(err, ERROR_FULL,
                         "etcd has no space left (%s): compact and defragment it, or raise its "
                         "--quota-backend-bytes, then `etcdctl alarm disarm`",
                         reply.asked);
        break;
    default:
        code = error_set(err, reply.end == GATEWAY_TOO_LARGE ? ERROR_INVALID : ERROR_IO, "%s",
                         reply.error.text);
    }
    json_decref(reply.body);
    return code;
}

/* ---- commits ---- */

void leading_put_counters(const struct leading *leading, json_t *operations,
                          const struct record *counters)
{
    assert(counters->kind == RECORD_COUNTERS);
    if (counters->u.counters.last_number > leading->counters.u.counters.last_number ||
        counters->u.counters.last_seq > leading->counters.u.counters.last_seq)
        wire_add(operations, changes_put(leading->etcd->prefix, &leading->json, counters));
}

static struct record raised(const struct record *counters, const struct batch *batch)
{
    struct record raised = *counters;
    assert(counters->kind == RECORD_COUNTERS);
    if (raised.u.counters.last_number < batch->last_number)
        raised.u.counters.last_number = batch->last_number;
    if (raised.u.counters.last_seq < batch->last_seq)
        raised.u.counters.last_seq = batch->last_seq;
    return raised;
}

static int commit_changes(struct leading *leading, const json_t *changes,
                          const struct record *counters, struct error *err)
{
    assert(leading->part_bytes >= PART_BYTES_MIN);
    const size_t count = json_array_size(changes);
    /* A part is a value, as it is; here etcd counts what the texts mean, at most three quarters. */
    if (changes_fitting(changes, 0, leading->part_bytes / 2 * 3) < count)
        return redo_commit(leading, changes, counters, err);
    json_t *operations = changes_grouped(changes, 0, count);
    leading_put_counters(leading, operations, counters);
    return leading_carry_out(leading, operations, err);
}

static int write_batch(struct store *store, const struct batch *batch, struct error *err)
{
    struct leading *leading = (struct leading *)store;
    const struct record counters = raised(&leading->counters, batch);
    int code;
    if (leading->marked) { /* this batch is: it was given back because carrying it out failed */
        code = redo_finish(leading, err);
    } else {
        json_t *changes = changes_of(leading->etcd->prefix, &leading->json, batch);
        while ((code = commit_changes(leading, changes, &counters, err)) == ERROR_INVALID &&
               leading->part_bytes > PART_BYTES_MIN)
            leading->part_bytes /= 2;
        json_decref(changes);
    }
    if (code == 0)
        leading->counters = counters;
    return code == ERROR_INVALID ? ERROR_IO : code;
}

/* ---- its life ---- */

static void leading_close(struct store *store)
{
    struct leading *leading = (struct leading *)store;
    committer_stop(&leading->committer);
    etcd_release_gateway(leading->etcd, &leading->gateway);
    json_decref(leading->page.body);
    recordjson_forget(&leading->json);
    free(leading->amended);
    free(leading);
}

void store_etcd_extend(struct store *store, int64_t deadline_ms)
{
    struct leading *leading = (struct leading *)store;
    assert(leading->committer.store.ops->close == leading_close);
    atomic_store(&leading->deadline_ms, deadline_ms);
}

/* guard: all zero for a copy. */
static struct leading *open_ledger(struct etcd *etcd, const struct commit_guard *guard,
                                   int64_t deadline_ms, struct error *err)
{
    assert(guard->commit == 0);
    static const struct store_ops ops = {
        .load = leading_load,
        .refuse = leading_refuse,
        .commit = committer_commit,
        .offer = committer_offer,
        .withdraw = committer_withdraw,
        .fd = committer_fd,
        .dispatch = committer_dispatch,
        .close = leading_close,
    };
    struct leader times;
    struct leading *leading = memory_zeroed(sizeof *leading);
    leader_init(&times, etcd->lease_ms);
    leading->committer.store.ops = &ops;
    leading->etcd = etcd;
    leading->json.sealing = &etcd->sealing;
    leading->guard = *guard;
    leading->counters.kind = RECORD_COUNTERS;
    leading->try_ms = leader_try_ms(&times);
    leading->part_bytes = PART_BYTES;
    leading->limit = PAGE_RECORDS;
    atomic_store(&leading->deadline_ms, deadline_ms);
    if (committer_start(&leading->committer, "ledger", write_batch, err) == 0)
        return leading;
    leading_close(&leading->committer.store);
    return NULL;
}

struct store *store_etcd_open(struct etcd *etcd, uint64_t lease, uint64_t revision,
                              int64_t deadline_ms, struct error *err)
{
    const struct commit_guard guard = {.lease = lease, .revision = revision};
    assert(lease > 0 && revision > 0);
    struct leading *leading = open_ledger(etcd, &guard, deadline_ms, err);
    return leading ? &leading->committer.store : NULL;
}

struct store *store_etcd_open_copy(struct etcd *etcd, bool *live, struct error *err)
{
    assert(live);
    struct leading *leading = open_ledger(etcd, &(struct commit_guard){0}, 0, err);
    if (!leading || leading_look_at_copy(leading, live, err) == 0)
        return leading ? &leading->committer.store : NULL;
    leading_close(&leading->committer.store);
    return NULL;
}
