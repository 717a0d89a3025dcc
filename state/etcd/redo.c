/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "state/base64.h"
#include "state/etcd/leading.h"

#include <assert.h>
#include <ctype.h>
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
    char name[64];
    (void)snprintf(name, sizeof name, "/redo/%016" PRIx64 "%s", commit, rest);
    return key_named(leading->etcd->prefix, name);
}

/* ---- writing ---- */

static int delete_range(struct leading *leading, const struct key *from, const struct key *end,
                        struct error *err)
{
    struct wire wire;
    leading_begin(leading, &wire);
    wire_delete(&wire, from, end);
    leading_end(leading, &wire);
    return leading_carry_out(leading, &wire, err);
}

static int write_part(struct leading *leading, uint64_t commit, size_t part,
                      const struct changes *changes, size_t from, size_t count, struct error *err)
{
    struct wire wire, text;
    char rest[32];
    (void)snprintf(rest, sizeof rest, "/%016zx", part);
    const struct key key = redo_key(leading, commit, rest);
    wire_start(&text);
    wire_list(&text, "[");
    changes_write(changes, from, count, &text);
    wire_add(&text, "]");
    wire_finish(&text);
    leading_begin(leading, &wire);
    wire_put(&wire, &key, text.text, text.length, 0);
    leading_end(leading, &wire);
    wire_release(&text);
    return leading_carry_out(leading, &wire, err);
}

static int write_mark(struct leading *leading, uint64_t commit, const struct record *counters,
                      struct error *err)
{
    struct wire wire;
    const struct key mark = redo_key(leading, commit, "");
    leading_begin(leading, &wire);
    leading_put_counters(leading, &wire, counters);
    wire_put(&wire, &mark, "whole", strlen("whole"), 0);
    leading_end(leading, &wire);
    return leading_carry_out(leading, &wire, err);
}

int redo_commit(struct leading *leading, const struct changes *changes,
                const struct record *counters, struct error *err)
{
    const uint64_t commit = leading->guard.commit + 1;
    const struct key all = key_named(leading->etcd->prefix, "/redo/"), end = key_end(&all);
    int code = delete_range(leading, &all, &end, err); /* what an attempt that failed has left */
    for (size_t from = 0, part = 0, count; from < changes->count && code == 0; from += count) {
        count = changes_fitting(changes, from, leading->part_bytes);
        code = write_part(leading, commit, part++, changes, from, count, err);
    }
    if (code == 0)
        code = write_mark(leading, commit, counters, err);
    if (code < 0)
        return code;
    leading->marked = true;
    return redo_finish(leading, err);
}

/* ---- carrying out ---- */

static bool key_ours(const struct leading *leading, const json_t *coded)
{
    const char *prefix = leading->etcd->prefix;
    const size_t length = json_string_length(coded), own = strlen(prefix);
    unsigned char bytes[KEY_MAX];
    if (!json_is_string(coded) || length > BASE64_LENGTH(KEY_MAX))
        return false;
    const int size = base64_decode(json_string_value(coded), length, bytes);
    return size > (int)own && memcmp(bytes, prefix, own) == 0 && bytes[own] == '/';
}

/* Whether these are operations of changes_write: they are sent as they are. */
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
    struct wire wire;
    struct key key = {.length = part->key_length};
    json_t *list = json_loadb(part->value, part->value_length, JSON_REJECT_DUPLICATES, NULL);
    const bool ours = operations_ours(leading, list, false);
    json_decref(list);
    if (!ours || key.length >= KEY_MAX)
        return error_set(err, ERROR_CORRUPT, "a part of a commit below \"redo\" is no such part");
    memcpy(key.text, part->key, key.length);
    leading_begin(leading, &wire);
    wire_delete(&wire, &key, NULL);
    /* Without the brackets. */
    wire_add(&wire, ",%.*s", (int)part->value_length - 2, part->value + 1);
    leading_end(leading, &wire);
    return leading_carry_out(leading, &wire, err);
}

/* The first key from this one to end: 1, 0: none, or a code. */
static int first_key(struct leading *leading, const struct key *from, const struct key *end,
                     struct wire_kv *kv, struct error *err)
{
    struct wire wire;
    json_t *body;
    wire_start(&wire);
    wire_list(&wire, "{\"success\":[");
    wire_range(&wire, from, end, 1);
    wire_add(&wire, "]}");
    const int code = leading_read(leading, "/v3/kv/txn", &wire, &body, err);
    const int found = code ? -1 : wire_kv(wire_ranged(body, 0), 0, kv);
    json_decref(body);
    if (code == 1 || (code == 0 && found < 0))
        return error_set(err, ERROR_IO, "an answer of etcd lacks what was asked for");
    return code ? code : found;
}

/* One step; 1: there is more to do. */
static int redo_step(struct leading *leading, struct error *err)
{
    const struct key all = key_named(leading->etcd->prefix, "/redo/"), end = key_end(&all);
    struct wire_kv mark, part;
    int found = first_key(leading, &all, &end, &mark, err);
    if (found <= 0)
        return found;
    struct key first = {.length = mark.key_length};
    const bool fits = first.length < KEY_MAX - 1;
    if (fits)
        memcpy(first.text, mark.key, first.length);
    wire_kv_release(&mark);
    if (!fits)
        return error_set(err, ERROR_CORRUPT, "a key below \"redo\" is too long");
    int code;
    if (first.length != all.length + MARK_DIGITS) {
        code = delete_range(leading, &first, NULL, err); /* a part of what is not whole */
    } else {
        struct key parts = first;
        parts.text[parts.length++] = '/';
        const struct key parts_end = key_end(&parts);
        found = first_key(leading, &parts, &parts_end, &part, err);
        if (found < 0)
            return found;
        code = found == 1 ? do_part(leading, &part, err) : delete_range(leading, &first, NULL, err);
        if (found == 1)
            wire_kv_release(&part);
    }
    return code < 0 ? code : 1;
}

int redo_finish(struct leading *leading, struct error *err)
{
    int code;
    do
        code = redo_step(leading, err);
    while (code == 1);
    leading->marked = leading->marked && code < 0;
    return code;
}
