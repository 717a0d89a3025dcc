/* SPDX-License-Identifier: Apache-2.0 */
#include "state/etcd/changes.h"

#include "base/memory.h"

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
        change(list, &key, NULL, record->kind == RECORD_CLEANED ? NULL : record);
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
    list->count = left;
}

void changes_put(struct wire *out, const char *prefix, const struct recordjson *json,
                 const struct record *record)
{
    const struct key key = key_of(prefix, record);
    json_t *object = memory_must(recordjson_write(json, record));
    char *value = memory_must(json_dumps(object, JSON_COMPACT));
    wire_put(out, &key, value, strlen(value), 0);
    free(value);
    json_decref(object);
}

static void write_change(struct wire *out, const char *prefix, const struct recordjson *json,
                         const struct change *one)
{
    struct key key = {.length = strlen(one->key)}, end = {0};
    memcpy(key.text, one->key, key.length);
    out->separate = false;
    if (one->put) {
        changes_put(out, prefix, json, one->put);
    } else if (one->end) {
        end.length = strlen(one->end);
        memcpy(end.text, one->end, end.length);
        wire_delete(out, &key, &end);
    } else {
        wire_delete(out, &key, NULL);
    }
}

void changes_init(struct changes *changes, const char *prefix, const struct recordjson *json,
                  const struct batch *batch)
{
    struct list list = {.prefix = prefix};
    assert(batch->count > 0);
    for (const struct batch_entry *entry = batch->first; entry; entry = entry->next)
        add_record(&list, &entry->record);
    collapse(&list);
    *changes = (struct changes){.count = list.count};
    changes->ends = memory_zeroed(list.count * sizeof *changes->ends);
    wire_start(&changes->wire);
    for (size_t i = 0; i < list.count; i++) {
        write_change(&changes->wire, prefix, json, &list.all[i]);
        changes->ends[i] = (size_t)ftell(changes->wire.out);
        free_change(&list.all[i]);
    }
    wire_finish(&changes->wire);
    free(list.all);
}

void changes_release(struct changes *changes)
{
    wire_release(&changes->wire);
    free(changes->ends);
    *changes = (struct changes){0};
}

/* ---- transactions ---- */

static size_t begin_of(const struct changes *changes, size_t at)
{
    assert(at <= changes->count);
    return at == 0 ? 0 : changes->ends[at - 1];
}

size_t changes_fitting(const struct changes *changes, size_t from, size_t bytes)
{
    size_t count = 1;
    assert(from < changes->count);
    while (from + count < changes->count && count < CHANGES_MAX &&
           changes->ends[from + count] - begin_of(changes, from) <= bytes)
        count++;
    return count;
}

void changes_write(const struct changes *changes, size_t from, size_t count, struct wire *out)
{
    assert(count > 0 && count <= CHANGES_MAX && from + count <= changes->count);
    const bool grouped = count > CHANGES_GROUP;
    for (size_t i = 0; i < count; i++) {
        const size_t begin = begin_of(changes, from + i), end = changes->ends[from + i];
        if (grouped && i % CHANGES_GROUP == 0)
            wire_list(out, "%s{\"request_txn\":{\"success\":[", out->separate ? "," : "");
        wire_add(out, "%s%.*s", out->separate ? "," : "", (int)(end - begin),
                 changes->wire.text + begin);
        if (grouped && (i % CHANGES_GROUP == CHANGES_GROUP - 1 || i == count - 1))
            wire_add(out, "]}}");
    }
}
