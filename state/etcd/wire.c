/* SPDX-License-Identifier: Apache-2.0 */
#include "state/etcd/wire.h"

#include "base/memory.h"
#include "base/text.h"
#include "state/base64.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- requests ---- */

json_t *wire_key(const struct key *key)
{
    assert(!key || key->length <= KEY_MAX);
    return key ? base64_json(key->text, key->length) : NULL;
}

json_t *wire_put(const struct key *key, const char *value, size_t length, uint64_t lease)
{
    assert(key);
    assert(value);
    assert(lease <= INT64_MAX);
    return memory_must(json_pack("{s:{s:o,s:o,s:o*}}", "request_put", "key", wire_key(key), "value",
                                 base64_json(value, length), "lease",
                                 lease > 0 ? json_integer((json_int_t)lease) : NULL));
}

json_t *wire_delete(const struct key *key, const struct key *end)
{
    assert(key);
    return memory_must(json_pack("{s:{s:o,s:o*}}", "request_delete_range", "key", wire_key(key),
                                 "range_end", wire_key(end)));
}

json_t *wire_range(const struct key *key, const struct key *end, int limit)
{
    assert(key);
    assert(limit > 0);
    return memory_must(json_pack("{s:{s:o,s:o*,s:i}}", "request_range", "key", wire_key(key),
                                 "range_end", wire_key(end), "limit", limit));
}

json_t *wire_any(const struct key *key, const struct key *end)
{
    assert(key);
    return memory_must(json_pack("{s:{s:o,s:o*,s:i,s:b}}", "request_range", "key", wire_key(key),
                                 "range_end", wire_key(end), "limit", 1, "keys_only", 1));
}

json_t *wire_if_created(const struct key *key, const struct key *end, uint64_t revision)
{
    assert(key);
    assert(revision <= INT64_MAX);
    return memory_must(json_pack("{s:o,s:o*,s:s,s:s,s:I}", "key", wire_key(key), "range_end",
                                 wire_key(end), "target", "CREATE", "result", "EQUAL",
                                 "create_revision", (json_int_t)revision));
}

json_t *wire_if_after(const struct key *key, uint64_t version)
{
    assert(version <= INT64_MAX);
    return memory_must(json_pack("{s:o,s:s,s:s,s:I}", "key", wire_key(key), "target", "VERSION",
                                 "result", "GREATER", "version", (json_int_t)version));
}

json_t *wire_if_value(const struct key *key, const char *value)
{
    assert(key);
    assert(value);
    return memory_must(json_pack("{s:o,s:s,s:s,s:o}", "key", wire_key(key), "target", "VALUE",
                                 "result", "EQUAL", "value", base64_json(value, strlen(value))));
}

void wire_add(json_t *list, json_t *operation)
{
    if (json_array_append_new(list, operation) < 0)
        (void)memory_must(NULL);
}

char *wire_text(json_t *request)
{
    char *text = memory_must(json_dumps(memory_must(request), JSON_COMPACT));
    json_decref(request);
    return text;
}

/* ---- answers ---- */

bool wire_number(const json_t *object, const char *name, uint64_t *out)
{
    assert(name);
    assert(out);
    const json_t *value = json_object_get(object, name);
    *out = 0;
    return !value ||
           (json_is_string(value) && text_number(json_string_value(value), 10, INT64_MAX, out));
}

/* An empty one is not there. */
static char *bytes_of(const json_t *object, const char *name, size_t *length)
{
    assert(name);
    const json_t *value = json_object_get(object, name);
    *length = 0;
    return value ? base64_bytes(value, length) : memory_text("");
}

static bool read_key(const json_t *kv, struct key *key)
{
    assert(key);
    char *bytes = bytes_of(kv, "key", &key->length);
    if (!bytes)
        return false;
    key->length = key->length < KEY_MAX ? key->length : KEY_MAX - 1;
    memcpy(key->text, bytes, key->length);
    free(bytes);
    return true;
}

int wire_head(const json_t *range, size_t at, struct wire_kv *out)
{
    assert(out);
    const json_t *kvs = json_object_get(range, "kvs"), *kv = json_array_get(kvs, at);
    *out = (struct wire_kv){0};
    if (!json_is_object(range) || (kvs && !json_is_array(kvs)))
        return -1;
    if (at >= json_array_size(kvs))
        return 0;
    return json_is_object(kv) && wire_number(kv, "create_revision", &out->created) &&
                   out->created > 0 && wire_number(kv, "lease", &out->lease) &&
                   wire_number(kv, "version", &out->version) && read_key(kv, &out->key)
               ? 1
               : -1;
}

int wire_kv(const json_t *range, size_t at, struct wire_kv *out)
{
    assert(out);
    const int found = wire_head(range, at, out);
    if (found < 1)
        return found;
    const json_t *kv = json_array_get(json_object_get(range, "kvs"), at);
    return (out->value = bytes_of(kv, "value", &out->value_length)) ? 1 : -1;
}

const json_t *wire_ranged(const json_t *transaction, size_t at)
{
    const json_t *responses = json_object_get(transaction, "responses");
    return json_object_get(json_array_get(responses, at), "response_range");
}
