/* SPDX-License-Identifier: Apache-2.0 */
#include "state/etcd/keys.h"

#include "base/text.h"
#include "state/columns.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const key_names[KEY_NAMES] = {
    "/broker/",      "/cleanup/",  "/counters", "/event/",      "/facts",      "/founded",
    "/leader",       "/ledger",    "/nics/",    "/node/",       "/partitions", "/redo/",
    "/reservation/", "/root-keys", "/seq",      "/shared-vni/", "/sum/",       "/traffic/",
};

static const char *const kinds[RECORD_KINDS] = {
    [RECORD_RESERVATION] = "/reservation/",
    [RECORD_EVENT] = "/event/",
    [RECORD_COUNTERS] = "/counters",
    [RECORD_FOUNDED] = "/founded",
    [RECORD_NODE] = "/node/",
    [RECORD_CLEANUP] = "/cleanup/",
    [RECORD_CLEANED] = "/cleanup/",
    [RECORD_FACTS] = "/facts",
    [RECORD_SUM] = "/sum/",
    [RECORD_ROOT_KEYS] = "/root-keys",
    [RECORD_SHARED_VNI] = "/shared-vni/",
    [RECORD_SHARED_GONE] = "/shared-vni/",
    [RECORD_PARTITIONS] = "/partitions",
    [RECORD_NODE_NICS] = "/nics/",
    [RECORD_NODE_NICS_GONE] = "/nics/",
    [RECORD_TRAFFIC] = "/traffic/",
    [RECORD_TRAFFIC_GONE] = "/traffic/",
};

__attribute__((format(printf, 1, 2))) static struct key format(const char *words, ...)
{
    struct key key;
    va_list args;
    va_start(args, words);
    const int length = vsnprintf(key.text, sizeof key.text, words, args);
    va_end(args);
    /* A longer prefix, or longer names of nodes or steps, need a larger KEY_MAX. */
    assert(length > 0 && length < KEY_MAX - 1);
    key.length = (size_t)length;
    return key;
}

struct key key_named(const char *prefix, const char *name)
{
    assert(strlen(prefix) <= KEY_PREFIX_MAX && name[0] == '/');
    return format("%s%s", prefix, name);
}

struct key key_broker(const char *prefix, uint64_t lease)
{
    return format("%s/broker/%016" PRIx64, prefix, lease);
}

struct key key_first(const char *prefix, enum record_kind kind)
{
    assert(kinds[kind]);
    return key_named(prefix, kinds[kind]);
}

struct key key_numbered(const char *prefix, enum record_kind kind, uint64_t number)
{
    assert(kinds[kind]);
    return format("%s%s%016" PRIx64, prefix, kinds[kind], number);
}

bool key_number(const char *prefix, enum record_kind kind, const struct key *key, uint64_t *out)
{
    assert(key->length < KEY_MAX);
    char digits[17] = "";
    const size_t before = key_first(prefix, kind).length;
    if (key->length < before + sizeof digits - 1)
        return false;
    memcpy(digits, key->text + before, sizeof digits - 1);
    return text_number(digits, 16, INT64_MAX, out);
}

struct key key_belonging(const char *prefix, enum record_kind kind, uint64_t number)
{
    assert(kind == RECORD_NODE || kind == RECORD_SUM || kind == RECORD_CLEANUP);
    return format("%s%s%016" PRIx64 "/", prefix, kinds[kind], number);
}

struct key key_of(const char *prefix, const struct record *record)
{
    const char *name = kinds[record->kind];
    assert(name);
    switch (record->kind) {
    case RECORD_RESERVATION:
        return key_numbered(prefix, record->kind, record->u.reservation.number);
    case RECORD_EVENT:
        return key_numbered(prefix, record->kind, record->u.event.seq);
    case RECORD_SHARED_VNI:
        return key_numbered(prefix, record->kind, record->u.shared_vni.vni);
    case RECORD_SHARED_GONE:
        return key_numbered(prefix, record->kind, record->u.shared_gone);
    case RECORD_NODE:
        return format("%s%s%016" PRIx64 "/%s", prefix, name, record->u.node.number,
                      record->u.node.node);
    case RECORD_TRAFFIC:
        return key_numbered(prefix, record->kind, record->u.traffic.seq);
    case RECORD_TRAFFIC_GONE:
        return key_numbered(prefix, record->kind, record->u.traffic_gone);
    case RECORD_NODE_NICS:
    case RECORD_NODE_NICS_GONE:
        return format("%s%s%s", prefix, name, record->u.nics.node);
    case RECORD_SUM:
        return format("%s%s%016" PRIx64 "/%016" PRIx32, prefix, name, record->u.sum.number,
                      record->u.sum.sum);
    case RECORD_CLEANUP:
    case RECORD_CLEANED:
        return format("%s%s%016" PRIx64 "/%u/%s", prefix, name, record->u.cleanup.number,
                      record->u.cleanup.below, record->u.cleanup.step);
    default:
        return key_named(prefix, name);
    }
}

struct key key_end(const struct key *key)
{
    struct key end = *key;
    assert(key->length > 0 && key->length < KEY_MAX);
    if (key->text[key->length - 1] == '/')
        end.text[end.length - 1] = '/' + 1;
    else
        end.text[end.length++] = '\0';
    return end;
}
