/* SPDX-License-Identifier: Apache-2.0 */
#include "state/etcd/wire.h"

#include "base/memory.h"
#include "base/text.h"
#include "state/base64.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- requests ---- */

void wire_start(struct wire *wire)
{
    *wire = (struct wire){0};
    wire->out = memory_must(open_memstream(&wire->text, &wire->length));
}

static void add(struct wire *wire, const char *format, va_list args)
{
    if (vfprintf(wire->out, format, args) < 0)
        (void)memory_must(NULL);
}

void wire_add(struct wire *wire, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(wire, format, args);
    va_end(args);
    wire->separate = true;
}

void wire_list(struct wire *wire, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(wire, format, args);
    va_end(args);
    wire->separate = false;
}

void wire_finish(struct wire *wire)
{
    if (fclose(wire->out) != 0)
        (void)memory_must(NULL);
    wire->out = NULL;
    assert(wire->text && wire->length > 0);
}

void wire_release(struct wire *wire)
{
    if (wire->out)
        (void)fclose(wire->out);
    free(wire->text);
    *wire = (struct wire){0};
}

void wire_bytes(struct wire *wire, const char *name, const char *bytes, size_t length)
{
    enum { PIECE = 3 * 1024 };
    char coded[BASE64_LENGTH(PIECE) + 1];
    wire_add(wire, "\"%s\":\"", name);
    for (size_t at = 0; at < length; at += PIECE) {
        const size_t size = length - at < PIECE ? length - at : PIECE;
        const size_t written = base64_encode(bytes + at, size, coded);
        (void)fwrite(coded, 1, written, wire->out);
    }
    wire_add(wire, "\"");
}

/* {"operation":{"key":"…","range_end":"…" and the rest is the caller's. */
static void begin(struct wire *wire, const char *opening, const struct key *key,
                  const struct key *end)
{
    wire_add(wire, "%s%s", wire->separate ? "," : "", opening);
    wire_bytes(wire, "key", key->text, key->length);
    if (!end)
        return;
    wire_add(wire, ",");
    wire_bytes(wire, "range_end", end->text, end->length);
}

void wire_put(struct wire *wire, const struct key *key, const char *value, size_t length,
              uint64_t lease)
{
    begin(wire, "{\"request_put\":{", key, NULL);
    if (lease > 0)
        wire_add(wire, ",\"lease\":\"%" PRIu64 "\"", lease);
    wire_add(wire, ",");
    wire_bytes(wire, "value", value, length);
    wire_add(wire, "}}");
}

void wire_delete(struct wire *wire, const struct key *key, const struct key *end)
{
    begin(wire, "{\"request_delete_range\":{", key, end);
    wire_add(wire, "}}");
}

void wire_range(struct wire *wire, const struct key *key, const struct key *end, unsigned limit)
{
    begin(wire, "{\"request_range\":{", key, end);
    wire_add(wire, ",\"limit\":\"%u\"}}", limit);
}

void wire_any(struct wire *wire, const struct key *key, const struct key *end)
{
    begin(wire, "{\"request_range\":{", key, end);
    wire_add(wire, ",\"limit\":\"1\",\"keys_only\":true}}");
}

void wire_if_created(struct wire *wire, const struct key *key, const struct key *end,
                     uint64_t revision)
{
    begin(wire, "{", key, end);
    wire_add(wire,
             ",\"target\":\"CREATE\",\"result\":\"EQUAL\",\"create_revision\":\"%" PRIu64 "\"}",
             revision);
}

void wire_if_after(struct wire *wire, const struct key *key, uint64_t version)
{
    begin(wire, "{", key, NULL);
    wire_add(wire, ",\"target\":\"VERSION\",\"result\":\"GREATER\",\"version\":\"%" PRIu64 "\"}",
             version);
}

void wire_if_value(struct wire *wire, const struct key *key, const char *value)
{
    begin(wire, "{", key, NULL);
    wire_add(wire, ",\"target\":\"VALUE\",\"result\":\"EQUAL\",");
    wire_bytes(wire, "value", value, strlen(value));
    wire_add(wire, "}");
}

/* ---- answers ---- */

bool wire_number(const json_t *object, const char *name, uint64_t *out)
{
    const json_t *value = json_object_get(object, name);
    *out = 0;
    return !value ||
           (json_is_string(value) && text_number(json_string_value(value), 10, INT64_MAX, out));
}

/* NULL: no base64. */
static char *bytes_of(const json_t *object, const char *name, size_t *length)
{
    const json_t *value = json_object_get(object, name);
    const size_t coded = json_string_length(value);
    if (value && !json_is_string(value))
        return NULL;
    char *bytes = memory_zeroed(coded / 4 * 3 + 1);
    const int size =
        coded == 0 ? 0 : base64_decode(json_string_value(value), coded, (unsigned char *)bytes);
    *length = size < 0 ? 0 : (size_t)size;
    bytes[*length] = '\0';
    if (size >= 0)
        return bytes;
    free(bytes);
    return NULL;
}

int wire_kv(const json_t *range, size_t at, struct wire_kv *out)
{
    const json_t *kvs = json_object_get(range, "kvs");
    if (!json_is_object(range) || (kvs && !json_is_array(kvs)))
        return -1;
    if (at >= json_array_size(kvs))
        return 0;
    const json_t *kv = json_array_get(kvs, at);
    *out = (struct wire_kv){0};
    if (json_is_object(kv) && wire_number(kv, "create_revision", &out->created) &&
        out->created > 0 && wire_number(kv, "version", &out->version) &&
        wire_number(kv, "lease", &out->lease) &&
        (out->key = bytes_of(kv, "key", &out->key_length)) &&
        (out->value = bytes_of(kv, "value", &out->value_length)))
        return 1;
    wire_kv_release(out);
    return -1;
}

void wire_kv_release(struct wire_kv *kv)
{
    free(kv->key);
    free(kv->value);
    *kv = (struct wire_kv){0};
}

const json_t *wire_ranged(const json_t *transaction, size_t at)
{
    const json_t *responses = json_object_get(transaction, "responses");
    return json_object_get(json_array_get(responses, at), "response_range");
}
