/* SPDX-License-Identifier: Apache-2.0 */
#include "state/batch.h"

#include "base/memory.h"
#include "state/columns.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct batch *batch_create(void)
{
    struct batch *batch = memory_zeroed(sizeof *batch);
    assert(!batch->first);
    batch->tail = &batch->first;
    return batch;
}

void batch_destroy(struct batch *batch)
{
    if (!batch)
        return;
    for (struct batch_entry *entry = batch->first, *next; entry; entry = next) {
        next = entry->next;
        explicit_bzero(entry, entry->size); /* may hold a token */
        free(entry);
    }
    free(batch);
}

static void raise_to(uint64_t *highest, uint64_t value)
{
    assert(highest);
    if (*highest < value)
        *highest = value;
}

static const char *text_in(const struct column *column, const struct record *record)
{
    assert(record->kind < RECORD_KINDS);
    return column->type == COLUMN_NUMBER ? NULL : column_text(column, record);
}

static struct batch_entry *copy_record(const struct record *record)
{
    assert(!record_fault(record));
    const struct columns *columns = &record_columns[record->kind];
    size_t size = sizeof(struct batch_entry);
    for (size_t i = 0; i < columns->count; i++) {
        const char *text = text_in(&columns->all[i], record);
        size += text ? strlen(text) + 1 : 0;
    }
    struct batch_entry *entry = memory_zeroed(size);
    entry->size = size;
    entry->record = *record;
    char *free_bytes = (char *)(entry + 1);
    for (size_t i = 0; i < columns->count; i++) {
        const char *text = text_in(&columns->all[i], record);
        if (!text)
            continue;
        column_set_text(&columns->all[i], &entry->record, free_bytes);
        free_bytes = stpcpy(free_bytes, text) + 1;
    }
    assert(free_bytes == (char *)entry + size);
    return entry;
}

void batch_add(struct batch *batch, const struct record *record)
{
    assert(record->kind != RECORD_COUNTERS && !*batch->tail);
    struct batch_entry *entry = copy_record(record);
    if (record->kind == RECORD_RESERVATION)
        raise_to(&batch->last_number, record->u.reservation.number);
    if (record->kind == RECORD_GONE)
        raise_to(&batch->last_number, record->u.gone);
    if (record->kind == RECORD_EVENT)
        raise_to(&batch->last_seq, record->u.event.seq);
    if (record->kind == RECORD_PRUNE)
        raise_to(&batch->last_seq, record->u.prune);
    batch->deletes |= record->kind == RECORD_GONE || record->kind == RECORD_PRUNE;
    batch->founded |= record->kind == RECORD_FOUNDED;
    assert(batch->last_number <= INT64_MAX && batch->last_seq <= INT64_MAX);
    *batch->tail = entry;
    batch->tail = &entry->next;
    batch->count++;
}

size_t batch_size(const struct batch *batch)
{
    assert((batch->count == 0) == (!batch->first));
    return batch->count;
}
