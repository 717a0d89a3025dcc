/* SPDX-License-Identifier: Apache-2.0 */
#include "state/batch.h"

#include "state/packed.h"
#include "state/record_fault.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Holds a busy broker's batch (64 reservations, 64 events) in one or two pieces. Untouched pages
 * cost nothing, and below 128 KiB malloc uses the heap. */
enum { CHUNK_SIZE = 32 * 1024 };

struct chunk {
    struct chunk *older;
    size_t used, size;
    _Alignas(max_align_t) unsigned char bytes[];
};

struct batch *batch_create(struct store *store)
{
    (void)store;
    struct batch *batch = calloc(1, sizeof *batch);
    if (batch)
        batch->tail = &batch->first;
    return batch;
}

void batch_destroy(struct batch *batch)
{
    if (!batch)
        return;
    while (batch->newest) {
        struct chunk *older = batch->newest->older;
        explicit_bzero(batch->newest->bytes, batch->newest->used); /* may hold tokens */
        free(batch->newest);
        batch->newest = older;
    }
    free(batch);
}

static void *allocate_in_chunk(struct batch *batch, size_t size)
{
    assert(size > 0);
    size = (size + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
    struct chunk *chunk = batch->newest;
    if (!chunk || chunk->size - chunk->used < size) {
        size_t capacity = size > CHUNK_SIZE ? size : CHUNK_SIZE;
        chunk = malloc(sizeof *chunk + capacity);
        if (!chunk)
            return NULL;
        *chunk = (struct chunk){.older = batch->newest, .size = capacity};
        batch->newest = chunk;
    }
    assert(chunk->size - chunk->used >= size);
    void *bytes = chunk->bytes + chunk->used;
    chunk->used += size;
    return bytes;
}

static void raise_to(uint64_t *highest, uint64_t value)
{
    assert(highest);
    if (*highest < value)
        *highest = value;
}

int batch_add(struct batch *batch, const struct record *record)
{
    assert(record->kind != RECORD_COUNTERS && *batch->tail == NULL);
    assert(!record_fault(record));

    struct batch_entry *entry =
        allocate_in_chunk(batch, offsetof(struct batch_entry, record) + packed_size(record));
    if (!entry)
        return ERROR_NOMEM;
    entry->next = NULL;
    packed_write(&entry->record, record);

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
    return 0;
}

size_t batch_size(const struct batch *batch)
{
    assert((batch->count == 0) == (batch->first == NULL));
    return batch->count;
}
