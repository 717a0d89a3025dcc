/* SPDX-License-Identifier: Apache-2.0 */
#include "state/store.h"

#include "state/batch.h"
#include "state/packed.h"
#include "state/rows.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct memory {
    struct store store;
    int fd;
    struct commit commit;
    struct rows reservations, events;
    uint64_t last_number, last_seq;
    bool founded;
    struct record *facts; /* packed, owned; NULL: none */
};

static int memory_load(struct store *store, store_each_fn *each, void *arg, struct error *err)
{
    (void)err; /* only each can fail here */
    struct memory *memory = (struct memory *)store;
    assert(!memory->commit.batch);
    struct record counters = {.kind = RECORD_COUNTERS,
                              .u.counters = {memory->last_number, memory->last_seq}};
    struct record founded = {.kind = RECORD_FOUNDED};
    int code;
    if ((code = each(arg, &counters)) || (memory->founded && (code = each(arg, &founded))) ||
        (memory->facts && (code = each(arg, memory->facts))) ||
        (code = rows_each(&memory->reservations, each, arg)) ||
        (code = rows_each_node(&memory->reservations, each, arg)) ||
        (code = rows_each_cleanup(&memory->reservations, each, arg)))
        return code;
    return rows_each(&memory->events, each, arg);
}

/* A copy of each record, in order, for apply_record to own. NULL: out of memory. */
static struct record **copies_create(const struct batch *batch)
{
    struct record **copies = calloc(batch->count, sizeof *copies);
    size_t count = 0;
    for (const struct batch_entry *entry = batch->first; copies && entry; entry = entry->next) {
        if ((copies[count++] = packed_create(&entry->record)))
            continue;
        while (count > 0)
            packed_destroy(copies[--count]);
        free(copies);
        return NULL;
    }
    assert(!copies || count == batch->count);
    return copies;
}

/* Cannot fail: a batch is applied all or nothing. */
static void apply_record(struct memory *memory, struct record *record)
{
    assert(record);
    switch (record->kind) {
    case RECORD_RESERVATION:
        rows_put(&memory->reservations, record->u.reservation.number, record);
        return;
    case RECORD_EVENT:
        assert(record->u.event.seq > memory->last_seq);
        rows_put(&memory->events, record->u.event.seq, record);
        return;
    case RECORD_GONE:
        rows_drop(&memory->reservations, record->u.gone);
        break;
    case RECORD_PRUNE:
        rows_drop_through(&memory->events, record->u.prune);
        break;
    case RECORD_NODE:
        rows_put_node(&memory->reservations, record->u.node.number, &record->u.node);
        break;
    case RECORD_CLEANUP:
        rows_put_cleanup(&memory->reservations, record->u.cleanup.number, record);
        return;
    case RECORD_CLEANED:
        rows_drop_cleanup(&memory->reservations, record->u.cleanup.number, &record->u.cleanup);
        break;
    case RECORD_FACTS:
        packed_destroy(memory->facts);
        memory->facts = record;
        return;
    case RECORD_COUNTERS:
    case RECORD_FOUNDED:
        break;
    }
    packed_destroy(record);
}

static int apply_batch(struct memory *memory, const struct batch *batch, struct error *err)
{
    assert(batch->count > 0);
    struct record **copies = NULL;
    if (rows_reserve(&memory->reservations, batch->count) < 0 ||
        rows_reserve(&memory->events, batch->count) < 0 || !(copies = copies_create(batch)))
        return error_set(err, ERROR_FULL,
                         "out of memory while keeping %zu records in memory: give mcastd more, or "
                         "keep the state in a file",
                         batch->count);
    for (size_t i = 0; i < batch->count; i++)
        apply_record(memory, copies[i]);
    free(copies);

    if (memory->last_number < batch->last_number)
        memory->last_number = batch->last_number;
    if (memory->last_seq < batch->last_seq)
        memory->last_seq = batch->last_seq;
    memory->founded |= batch->founded;
    return 0;
}

static void memory_commit(struct store *store, struct batch *batch, store_done_fn *done, void *arg)
{
    assert(!((struct memory *)store)->commit.batch);
    struct memory *memory = (struct memory *)store;
    commit_begin(&memory->commit, batch, done, arg);
    commit_end(&memory->commit, apply_batch(memory, batch, &memory->commit.result.error));
    eventfd_write(memory->fd, 1);
}

static int memory_fd(const struct store *store)
{
    assert(((const struct memory *)store)->fd >= 0);
    return ((const struct memory *)store)->fd;
}

static void memory_dispatch(struct store *store)
{
    assert(((const struct memory *)store)->fd >= 0);
    struct memory *memory = (struct memory *)store;
    eventfd_t count;
    if (eventfd_read(memory->fd, &count) == 0)
        commit_report(&memory->commit);
}

static void memory_close(struct store *store)
{
    struct memory *memory = (struct memory *)store;
    assert(memory->fd >= 0);
    commit_drop(&memory->commit);
    rows_release(&memory->reservations);
    rows_release(&memory->events);
    packed_destroy(memory->facts);
    close(memory->fd);
    free(memory);
}

struct store *store_memory_open(struct error *err)
{
    static const struct store_ops ops = {
        .load = memory_load,
        .commit = memory_commit,
        .fd = memory_fd,
        .dispatch = memory_dispatch,
        .close = memory_close,
    };
    struct memory *memory = calloc(1, sizeof *memory);
    if (!memory) {
        error_set(err, ERROR_NOMEM, "out of memory while opening the store");
        return NULL;
    }
    memory->store.ops = &ops;
    memory->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (memory->fd < 0) {
        error_set(err, ERROR_IO, "cannot make an eventfd: %s", strerror(errno));
        free(memory);
        return NULL;
    }
    return &memory->store;
}
