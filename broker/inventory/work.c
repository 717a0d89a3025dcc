/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/inventory/reader.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

/* What a worker thread does for a round. Meanwhile the loop leaves alone what is the thread's. */

/* Of this thread: how busy the machine is does not count. */
static uint64_t thread_cpu_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void work_map(struct inventory_reader *reader)
{
    struct documents *old = &reader->documents, *new = &reader->round.read;
    const bool *fresh = reader->round.fresh;
    struct fabric_read all = {.switches = (fresh[DOCUMENTS_SWITCHES] ? new : old)->fabric.switches,
                              .ports = (fresh[DOCUMENTS_PORTS] ? new : old)->fabric.ports,
                              .cables = (fresh[DOCUMENTS_CABLES] ? new : old)->fabric.cables};
    reader->made = fabricmap_create(&all, &reader->fault);
    if (reader->made && reader->map)
        reader->change_count =
            fabricmap_diff(reader->map, reader->made, reader->changes, CHANGES_MAX, &reader->sum);
}

void inventory_drop(struct garbage *garbage)
{
    for (size_t i = 0; i < garbage->bare_count; i++)
        free(garbage->bare[i]);
    free(garbage->bare);
    documents_release(&garbage->replaced);
    documents_release(&garbage->unused);
    fabricmap_destroy(garbage->map);
    *garbage = (struct garbage){0};
}

static void work(uv_work_t *work)
{
    struct inventory_reader *reader = work->data;
    struct documents scratch = {0};
    const uint64_t begun_ns = thread_cpu_ns();
    const enum documents_kind kind = reader->round.kind;
    struct documents *out = reader->what == WORK_STAMP ? &scratch : &reader->round.read;
    documents_page_release(&reader->page); /* the one before */
    if (reader->what == WORK_DROP)
        inventory_drop(&reader->garbage);
    if (reader->what == WORK_MAP)
        work_map(reader);
    for (size_t i = 0; i < reader->body_count && reader->fault.code == 0; i++) {
        const struct body *body = &reader->bodies[i];
        if (body->link)
            (void)documents_single(kind, body->link, body->data, body->length, out, &reader->fault);
        else
            (void)documents_page(&reader->page, kind, body->data, body->length, out,
                                 &reader->fault);
    }
    documents_release(&scratch);
    reader->round.worker_ns += thread_cpu_ns() - begun_ns;
}

static void on_worked(uv_work_t *work, int status)
{
    (void)status; /* is never cancelled */
    round_worked(work->data);
}

void inventory_work(struct inventory_reader *reader, enum work what)
{
    assert(!reader->working);
    reader->working = true;
    reader->what = what;
    reader->fault = (struct error){0};
    reader->work.data = reader;
    (void)uv_queue_work(reader->loop, &reader->work, work,
                        on_worked); /* fails without a function */
}
