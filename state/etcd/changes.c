/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "state/etcd/leading.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Of the key, or of all keys from it to end. */
struct change {
    char *key, *end;          /* end NULL: one key */
    const struct record *put; /* NULL: deleted */
    size_t order;             /* in the batch */
};

struct list {
    const char *prefix;
    struct change *all;
    size_t count, capacity;
};

/* ---- what the records change ---- */

static void change(struct list *list, const struct key *key, const struct key *end,
                   const struct record *put)
{
    assert(!end || strcmp(key->text, end->text) < 0);
    list->all = memory_room(list->all, list->count, &list->capacity, sizeof *list->all);
    list->all[list->count] = (struct change){
        .key = memory_must(strndup(key->text, key->length)),
        .end = end ? memory_must(strndup(end->text, end->length)) : NULL,
        .put = put,
        .order = list->count,
    };
    list->count++;
}

static void delete_reservation(struct list *list, uint64_t number)
{
    assert(number > 0);
    static const enum record_kind belonging[] = {RECORD_NODE, RECORD_SUM, RECORD_CLEANUP};
    const struct record gone = {.kind = RECORD_RESERVATION, .u.reservation.number = number};
    const struct key key = key_of(list->prefix, &gone);
    change(list, &key, NULL, NULL);
    for (size_t i = 0; i < sizeof belonging / sizeof *belonging; i++) {
        const struct key from = key_belonging(list->prefix, belonging[i], number);
        const struct key end = key_end(&from);
        change(list, &from, &end, NULL);
    }
}

static void delete_events(struct list *list, uint64_t up_to)
{
    const struct record next = {.kind = RECORD_EVENT, .u.event.seq = up_to + 1};
    const struct key from = key_first(list->prefix, RECORD_EVENT);
    const struct key end = key_of(list->prefix, &next);
    change(list, &from, &end, NULL);
}

static void add_record(struct list *list, const struct record *record)
{
    if (record->kind == RECORD_GONE) {
        delete_reservation(list, record->u.gone);
    } else if (record->kind == RECORD_PRUNE) {
        delete_events(list, record->u.prune);
    } else {
        const struct key key = key_of(list->prefix, record);
        const bool gone = record->kind == RECORD_CLEANED || record->kind == RECORD_SHARED_GONE ||
                          record->kind == RECORD_TRAFFIC_GONE ||
                          record->kind == RECORD_NODE_NICS_GONE;
        change(list, &key, NULL, gone ? NULL : record);
    }
}

/* ---- one of each key ---- */

static int by_key(const void *a, const void *b)
{
    const struct change *one = a, *other = b;
    const int order = strcmp(one->key, other->key);
    return order ? order : (one->order > other->order) - (one->order < other->order);
}

static void free_change(struct change *one)
{
    assert(one->key);
    free(one->key);
    free(one->end);
}

/* In the order of keys, what a range deletes comes right behind it. */
static void collapse(struct list *list)
{
    const struct change *range = NULL;
    size_t left = 0;
    if (list->count > 0)
        qsort(list->all, list->count, sizeof *list->all, by_key);
    for (size_t i = 0; i < list->count; i++) {
        struct change *next = &list->all[i], *last = left > 0 ? &list->all[left - 1] : NULL;
        if (last && strcmp(last->key, next->key) == 0) {
            if (last->end && strcmp(last->end, next->end) > 0) { /* two prunes */
                char *end = next->end;
                next->end = last->end;
                last->end = end;
            }
            free_change(last);
            *last = *next;
        } else if (range && strcmp(next->key, range->end) < 0) {
            assert(!next->put || next->order < range->order);
            free_change(next);
        } else {
            list->all[left++] = *next;
            range = next->end ? &list->all[left - 1] : range;
        }
    }
    assert(left <= list->count);
    list->count = left;
}

json_t *changes_put(const char *prefix, const struct recordjson *json, const struct record *record)
{
    const struct key key = key_of(prefix, record);
    json_t *object = memory_must(recordjson_write(json, record));
    char *value = memory_must(json_dumps(object, JSON_COMPACT));
    json_t *put = wire_put(&key, value, strlen(value), 0);
    free(value);
    json_decref(object);
    return put;
}

static struct key key_from(const char *text)
{
    struct key key = {.length = strlen(text)};
    assert(key.length < KEY_MAX);
    memcpy(key.text, text, key.length);
    return key;
}

static json_t *operation_of(const char *prefix, const struct recordjson *json,
                            const struct change *one)
{
    assert(one->key);
    if (one->put)
        return changes_put(prefix, json, one->put);
    const struct key key = key_from(one->key), end = key_from(one->end ? one->end : "");
    return wire_delete(&key, one->end ? &end : NULL);
}

json_t *changes_of(const char *prefix, const struct recordjson *json, const struct batch *batch)
{
    struct list list = {.prefix = prefix};
    json_t *operations = memory_must(json_array());
    assert(batch->count > 0);
    for (const struct batch_entry *entry = batch->first; entry; entry = entry->next)
        add_record(&list, &entry->record);
    collapse(&list);
    for (size_t i = 0; i < list.count; i++) {
        wire_add(operations, operation_of(prefix, json, &list.all[i]));
        free_change(&list.all[i]);
    }
    free(list.all);
    return operations;
}

/* ---- transactions ---- */

/* Of its text: its members are base64. */
static size_t size_of(json_t *operation)
{
    enum { REST = sizeof "{'request_delete_range':{'key':'','range_end':''}}," };
    size_t size = REST;
    const char *name;
    json_t *member;
    json_object_foreach(json_object_iter_value(json_object_iter(operation)), name, member) size +=
        json_string_length(member);
    return size;
}

size_t changes_fitting(const json_t *changes, size_t from, size_t bytes)
{
    size_t count = 0, size = 0;
    assert(from < json_array_size(changes));
    for (; count < CHANGES_MAX && from + count < json_array_size(changes); count++) {
        size += size_of(json_array_get(changes, from + count));
        if (count > 0 && size > bytes)
            break;
    }
    return count;
}

json_t *changes_grouped(const json_t *changes, size_t from, size_t count)
{
    json_t *all = memory_must(json_array()), *group = all;
    assert(count > 0 && count <= CHANGES_MAX && from + count <= json_array_size(changes));
    for (size_t i = 0; i < count; i++) {
        if (count > CHANGES_GROUP && i % CHANGES_GROUP == 0) {
            group = memory_must(json_array());
            wire_add(all, json_pack("{s:{s:o}}", "request_txn", "success", group));
        }
        wire_add(group, json_incref(json_array_get(changes, from + i)));
    }
    return all;
}
