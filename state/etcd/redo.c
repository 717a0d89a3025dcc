/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "state/base64.h"
#include "state/etcd/leading.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* /redo/COMMIT/PART has operations. /redo/COMMIT says that all parts of the commit are there: from
 * then on it is durable. It comes before its parts in the order of keys. COMMIT is the number of
 * the first of the transactions that this takes, so each attempt has keys of its own. */

enum { MARK_DIGITS = 16 };

static struct key redo_key(const struct leading *leading, uint64_t commit, const char *rest)
{
    assert(rest);
    char name[64];
    (void)snprintf(name, sizeof name, "/redo/%016" PRIx64 "%s", commit, rest);
    return key_named(leading->etcd->prefix, name);
}

/* ---- writing ---- */

static int delete_range(struct leading *leading, const struct key *from, const struct key *end,
                        struct error *err)
{
    assert(from);
    return leading_carry_out(leading, json_pack("[o]", wire_delete(from, end)), err);
}

static int write_part(struct leading *leading, uint64_t commit, size_t part, json_t *operations,
                      struct error *err)
{
    assert(json_array_size(operations) > 0);
    char rest[32], *text = memory_must(json_dumps(operations, JSON_COMPACT));
    (void)snprintf(rest, sizeof rest, "/%016zx", part);
    const struct key key = redo_key(leading, commit, rest);
    json_t *put = wire_put(&key, text, strlen(text), 0);
    free(text);
    json_decref(operations);
    return leading_carry_out(leading, json_pack("[o]", put), err);
}

int redo_commit(struct leading *leading, const json_t *changes, const struct record *counters,
                struct error *err)
{
    assert(json_array_size(changes) > 0);
    assert(counters->kind == RECORD_COUNTERS);
    const uint64_t commit = leading->guard.commit + 1;
    const struct key mark = redo_key(leading, commit, "");
    const struct key all = key_named(leading->etcd->prefix, "/redo/"), end = key_end(&all);
    int code = delete_range(leading, &all, &end, err); /* what an attempt that failed has left */
    for (size_t from = 0, part = 0, count; from < json_array_size(changes) && code == 0;
         from += count) {
        count = changes_fitting(changes, from, leading->part_bytes);
        code = write_part(leading, commit, part++, changes_grouped(changes, from, count), err);
    }
    if (code < 0)
        return code;
    json_t *whole = json_pack("[o]", wire_put(&mark, "whole", strlen("whole"), 0));
    leading_put_counters(leading, whole, counters);
    if ((code = leading_carry_out(leading, whole, err)) < 0)
        return code;
    leading->marked = true;
    return redo_finish(leading, err);
}

/* ---- carrying out ---- */

static bool key_ours(const struct leading *leading, const json_t *coded)
{
    const char *prefix = leading->etcd->prefix;
    const size_t own = strlen(prefix);
    size_t size = 0;
    char *bytes = base64_bytes(coded, &size);
    const bool ours = size > own && memcmp(bytes, prefix, own) == 0 && bytes[own] == '/';
    free(bytes);
    return ours;
}

/* Whether these are operations of changes_grouped: they are sent as they are. */
static bool operations_ours(const struct leading *leading, const json_t *list, bool nested)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *operation = json_array_get(list, i);
        const json_t *put = json_object_get(operation, "request_put");
        const json_t *gone = json_object_get(operation, "request_delete_range");
        const json_t *group = json_object_get(operation, "request_txn");
        const json_t *end = json_object_get(gone, "range_end");
        if (json_object_size(operation) != 1)
            return false;
        if (group ? nested || json_object_size(group) != 1 ||
                        !operations_ours(leading, json_object_get(group, "success"), true)
                  : !key_ours(leading, json_object_get(put ? put : gone, "key")) ||
                        (end && !key_ours(leading, end)))
            return false;
    }
    return json_array_size(list) > 0;
}

/* Carries a part out, and deletes it. */
static int do_part(struct leading *leading, const struct wire_kv *part, struct error *err)
{
    assert(part->value);
    json_t *list = json_loadb(part->value, part->value_length, JSON_REJECT_DUPLICATES, NULL);
    if (!operations_ours(leading, list, false)) {
        json_decref(list);
        return error_set(err, ERROR_CORRUPT, "a part of a commit below \"redo\" is no such part");
    }
    wire_add(list, wire_delete(&part->key, NULL));
    return leading_carry_out(leading, list, err);
}

/* The first key from this one to end: 1, 0: none, or a code. */
static int first_key(struct leading *leading, const struct key *from, const struct key *end,
                     struct wire_kv *kv, struct error *err)
{
    assert(from->length < KEY_MAX);
    assert(end->length < KEY_MAX);
    json_t *body;
    const int code =
        leading_read(leading, "/v3/kv/txn",
                     json_pack("{s:[o]}", "success", wire_range(from, end, 1)), &body, err);
    const int found = code ? -1 : wire_kv(wire_ranged(body, 0), 0, kv);
    json_decref(body);
    if (code == 1 || (code == 0 && found < 0))
        return error_set(err, ERROR_IO, "an answer of etcd lacks what was asked for");
    if (found == 1 && kv->key.length > KEY_MAX - 2) {
        free(kv->value);
        return error_set(err, ERROR_CORRUPT, "a key below \"redo\" is too long");
    }
    return code ? code : found;
}

/* One step; 1: there is more to do. */
static int redo_step(struct leading *leading, struct error *err)
{
    assert(!leading_is_copy(leading));
    const struct key all = key_named(leading->etcd->prefix, "/redo/"), end = key_end(&all);
    struct wire_kv first, part;
    int code = first_key(leading, &all, &end, &first, err);
    if (code <= 0)
        return code;
    free(first.value);
    const bool marked = first.key.length == all.length + MARK_DIGITS;
    if (marked) {
        struct key parts = first.key;
        parts.text[parts.length++] = '/';
        const struct key parts_end = key_end(&parts);
        code = first_key(leading, &parts, &parts_end, &part, err);
    }
    if (!marked || code == 0) { /* a part of what is not whole, or a mark that is done with */
        code = delete_range(leading, &first.key, NULL, err);
    } else if (code == 1) {
        code = do_part(leading, &part, err);
        free(part.value);
    }
    return code < 0 ? code : 1;
}

int redo_finish(struct leading *leading, struct error *err)
{
    assert(!leading_is_copy(leading));
    int code;
    do
        code = redo_step(leading, err);
    while (code == 1);
    leading->marked = leading->marked && code < 0;
    return code;
}
