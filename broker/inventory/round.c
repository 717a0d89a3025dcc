/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/inventory/reader.h"

#include "base/memory.h"
#include "broker/log/log.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t unix_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Of this thread: how busy the machine is does not count. */
static uint64_t thread_cpu_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- a round ends ---- */

static void drop_bodies(struct inventory_reader *reader)
{
    for (size_t i = 0; i < reader->body_count; i++) {
        free(reader->bodies[i].link);
        free(reader->bodies[i].data);
    }
    reader->body_count = 0;
}

void round_end(struct inventory_reader *reader, int64_t polls)
{
    struct round *round = &reader->round;
    assert(!reader->working);
    for (size_t i = 0; i < round->bare_count; i++)
        free(round->bare[i]);
    free(round->bare);
    free(round->next);
    drop_bodies(reader);
    documents_page_release(&reader->page);
    documents_release(&round->read);
    *round = (struct round){0}; /* answers that are still to come find no round */
    reader->active = false;
    reader->due_ms = uv_now(reader->loop) + (uint64_t)(polls * reader->config->inventory_poll_ms);
}

/* One line, until it is another. */
__attribute__((format(printf, 3, 4))) static void give_up(struct inventory_reader *reader,
                                                          int64_t polls, const char *format, ...)
{
    char words[ERROR_TEXT_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);
    reader->facts.reads_failed++;
    if (strcmp(words, reader->error) != 0)
        log_line(LOG_WARNING, "inventory: %s (jobs do not depend on it%s)", words,
                 reader->map ? "; what was read before stays" : "");
    (void)snprintf(reader->error, sizeof reader->error, "%s", words);
    round_end(reader, polls);
}

static bool versioned(const struct inventory_reader *reader)
{
    bool all = true;
    for (int kind = 0; kind <= DOCUMENTS_CABLES; kind++)
        all &= documents_same(&reader->kept[kind].stamp, &reader->kept[kind].stamp);
    return all;
}

static void succeed(struct inventory_reader *reader)
{
    if (reader->error[0] != '\0')
        log_line(LOG_NOTICE, "inventory: the fabric manager can be read again");
    reader->error[0] = '\0';
    reader->shrunk = false;
    reader->facts.reads_done++;
    reader->facts.checked_ms = unix_ms();
    round_end(reader, versioned(reader) ? 1 : SELDOM);
}

/* ---- the worker ---- */

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

static void work(uv_work_t *work)
{
    struct inventory_reader *reader = work->data;
    struct documents scratch = {0};
    const uint64_t begun_ns = thread_cpu_ns();
    const enum documents_kind kind = reader->round.kind;
    struct documents *out = reader->what == WORK_STAMP ? &scratch : &reader->round.read;
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

static void on_worked(uv_work_t *work, int status);

static void start_work(struct inventory_reader *reader, enum work what)
{
    assert(!reader->working);
    reader->working = true;
    reader->what = what;
    reader->fault = (struct error){0};
    reader->work.data = reader;
    (void)uv_queue_work(reader->loop, &reader->work, work,
                        on_worked); /* fails without a function */
}

/* ---- what was decoded ---- */

static void next_kind(struct inventory_reader *reader)
{
    struct round *round = &reader->round;
    round->plain = false;
    round->pages = round->links = 0;
    if (round->kind < DOCUMENTS_PARTITIONS) {
        round->kind++;
        round->stamping = reader->kept[round->kind].whole;
    } else {
        round->kind = DOCUMENTS_KINDS;
    }
}

static void take_stamp(struct inventory_reader *reader)
{
    struct round *round = &reader->round;
    const bool same = documents_same(&reader->page.stamp, &reader->kept[round->kind].stamp);
    documents_page_release(&reader->page);
    round->stamping = false;
    if (same)
        next_kind(reader);
}

/* A kind is whole: as many documents as links. */
static void end_kind(struct inventory_reader *reader)
{
    struct round *round = &reader->round;
    const size_t count = documents_count(&round->read, round->kind);
    const int64_t claimed = round->kept[round->kind].stamp.claimed;
    /* documentCount is the page's own number with some servers and the whole list's with others. */
    const bool own = claimed < 0 || (uint64_t)claimed == round->first_links;
    if (count != round->links || (!own && (uint64_t)claimed != count)) {
        give_up(reader, 1, "%s: there are %zu links, %zu documents, and documentCount is %" PRId64,
                documents_path(round->kind), round->links, count, claimed);
        return;
    }
    reader->facts.documents += count;
    round->fresh[round->kind] = true;
    round->kept[round->kind].whole = true;
    next_kind(reader);
    round_go_on(reader);
}

static void take_page(struct inventory_reader *reader)
{
    struct round *round = &reader->round;
    struct documents_page *page = &reader->page;
    if (round->pages++ == 0) {
        round->kept[round->kind].stamp = page->stamp;
        round->first_links = page->links;
    }
    round->links += page->links;
    for (size_t i = 0; i < page->bare_count; i++) {
        round->bare =
            memory_room(round->bare, round->bare_count, &round->bare_capacity, sizeof *round->bare);
        round->bare[round->bare_count++] = page->bare[i];
    }
    page->bare_count = 0;
    round->next = page->next;
    page->next = NULL;
    documents_page_release(page);
    if (round->links > (size_t)FABRIC_PLACES * FABRIC_PORTS || round->pages > PAGES_MAX)
        give_up(reader, SELDOM, "%s: more links or pages than any fabric has",
                documents_path(round->kind));
    else
        round_go_on(reader);
}

/* Most of it is gone at once: rather half an answer than half a machine. It counts when the next
 * round tells the same (B11). */
static bool shrinks(const struct inventory_reader *reader)
{
    if (!reader->map || reader->shrunk)
        return false;
    const struct fabric_counts *before = fabricmap_counts(reader->map);
    const struct fabric_counts *now = fabricmap_counts(reader->made);
    return now->switches < before->switches / 2 || now->edge_ports < before->edge_ports / 2;
}

static void adopt_documents(struct inventory_reader *reader)
{
    struct round *round = &reader->round;
    struct documents *to = &reader->documents, *from = &round->read;
    for (int kind = 0; kind < DOCUMENTS_KINDS; kind++) {
        if (!round->fresh[kind])
            continue;
        documents_clear(to, (enum documents_kind)kind);
        reader->kept[kind] = round->kept[kind];
    }
    if (round->fresh[DOCUMENTS_SWITCHES])
        to->fabric.switches = from->fabric.switches;
    if (round->fresh[DOCUMENTS_PORTS])
        to->fabric.ports = from->fabric.ports;
    if (round->fresh[DOCUMENTS_CABLES])
        to->fabric.cables = from->fabric.cables;
    if (round->fresh[DOCUMENTS_PARTITIONS])
        to->partitions = from->partitions;
    *from = (struct documents){0};
}

static void adopt_map(struct inventory_reader *reader)
{
    const bool news = reader->change_count > 0 || !fabric_sum_empty(&reader->sum);
    const struct fabric_counts *counts = fabricmap_counts(reader->made);
    const bool first = !reader->map;
    fabricmap_destroy(reader->map);
    reader->map = reader->made;
    reader->made = NULL;
    reader->facts.version += first || news;
    reader->facts.changed_ms = first || news ? unix_ms() : reader->facts.changed_ms;
    reader->facts.took_us = (int64_t)((uv_hrtime() - reader->round.begun_ns) / 1000);
    reader->facts.worker_us = (int64_t)(reader->round.worker_ns / 1000);
    reader->facts.bytes = reader->round.bytes;
    if (first)
        log_line(LOG_NOTICE,
                 "inventory read groups=%" PRIu32 " switches=%" PRIu32 " ports=%" PRIu32
                 " links=%" PRIu32 " took_ms=%" PRId64 " worker_ms=%" PRId64,
                 counts->groups, counts->switches, counts->ports, counts->cables,
                 reader->facts.took_us / 1000, reader->facts.worker_us / 1000);
    if (!news)
        return;
    struct core_event event = {.kind = CORE_FABRIC,
                               .u.fabric = {.map = reader->map,
                                            .changes = reader->changes,
                                            .count = reader->change_count,
                                            .sum = &reader->sum}};
    reader->hooks.step(reader->hooks.arg, &event);
}

static void take_map(struct inventory_reader *reader)
{
    if (shrinks(reader)) {
        fabricmap_destroy(reader->made);
        reader->made = NULL;
        give_up(reader, 1,
                "more than half of the fabric is gone at once: waiting for the next "
                "answer to say the same");
        reader->shrunk = true;
        return;
    }
    adopt_documents(reader);
    adopt_map(reader);
    succeed(reader);
}

static void on_worked(uv_work_t *work, int status)
{
    struct inventory_reader *reader = work->data;
    (void)status; /* is never cancelled */
    reader->working = false;
    drop_bodies(reader);
    if (reader->open > 0) {
        reader_part_closed(reader);
        return;
    }
    if (reader->fault.code != 0 && reader->what == WORK_MAP) {
        give_up(reader, 1, "what the fabric manager lists does not fit together: %s",
                reader->fault.text);
    } else if (reader->fault.code != 0) {
        give_up(reader, 1, "%s: %s", documents_path(reader->round.kind), reader->fault.text);
    } else if (reader->what == WORK_STAMP) {
        take_stamp(reader);
        round_go_on(reader);
    } else if (reader->what == WORK_PAGE) {
        take_page(reader);
    } else if (reader->what == WORK_SINGLES) {
        round_go_on(reader);
    } else {
        take_map(reader);
    }
}

/* ---- requests ---- */

/* Partitions are for the pool of VNIs only: without them the map is as good. */
static void refuse(struct inventory_reader *reader, const struct fmapi_body *body)
{
    struct round *round = &reader->round;
    const bool not_there = body->status == 404 || body->status == 403 || body->status == 405;
    if (!round->plain && !round->stamping && (body->status == 400 || body->too_long) &&
        round->pages == 0) {
        round->plain = true; /* it may not know the query */
        round_go_on(reader);
    } else if (round->kind == DOCUMENTS_PARTITIONS && not_there && reader->what != WORK_SINGLES) {
        next_kind(reader);
        round_go_on(reader);
    } else {
        give_up(reader, not_there ? SELDOM : 1, "%s cannot be read: %s",
                documents_path(round->kind), body->words);
    }
}

static void take_body(struct inventory_reader *reader, char **link, const struct fmapi_body *body)
{
    struct round *round = &reader->round;
    struct body *kept = &reader->bodies[reader->body_count++];
    *kept = (struct body){.link = *link, .data = memory_zeroed(body->length + 1)};
    *link = NULL;
    kept->length = body->length;
    memcpy(kept->data, body->data, body->length);
    round->bytes += body->length;
    if (round->bytes > READ_BYTES_MAX)
        give_up(reader, SELDOM, "the answers are longer than %d bytes", READ_BYTES_MAX);
    else if (!kept->link)
        start_work(reader, round->stamping ? WORK_STAMP : WORK_PAGE);
    else
        round_go_on(reader);
}

void round_forget(struct asked *asked)
{
    LIST_REMOVE(asked, entry);
    asked->reader->in_flight--;
    free(asked->link);
    free(asked);
}

static void on_body(void *arg, const struct fmapi_body *body)
{
    struct asked *asked = arg;
    struct inventory_reader *reader = asked->reader;
    const bool current = reader->active && asked->begun_ns == reader->round.begun_ns;
    char *link = asked->link;
    asked->link = NULL;
    round_forget(asked);
    if (current) {
        if (body->outcome == FM_OK)
            take_body(reader, &link, body);
        else
            refuse(reader, body);
    }
    free(link);
}

static void ask(struct inventory_reader *reader, const char *link, bool single)
{
    struct asked *asked = memory_zeroed(sizeof *asked);
    asked->reader = reader;
    asked->begun_ns = reader->round.begun_ns;
    asked->link = single ? memory_text(link) : NULL;
    LIST_INSERT_HEAD(&reader->asked, asked, entry);
    reader->in_flight++;
    reader->round.yields = 0;
    if (fmapi_read(reader->api, link, on_body, asked))
        return;
    round_forget(asked);
    give_up(reader, SELDOM, "%s: a link leads away from the fabric manager",
            documents_path(reader->round.kind));
}

static void ask_list(struct inventory_reader *reader)
{
    struct round *round = &reader->round;
    char link[LINK_SIZE];
    if (round->next) {
        char *next = round->next;
        round->next = NULL;
        ask(reader, next, false);
        free(next);
        return;
    }
    const char *path = documents_path(round->kind);
    if (round->stamping)
        (void)snprintf(link, sizeof link, "%s?$limit=1", path);
    else if (round->plain)
        (void)snprintf(link, sizeof link, "%s", path);
    else
        (void)snprintf(link, sizeof link, "%s?expand&$limit=%d", path, PAGE_LINKS);
    ask(reader, link, false);
}

static void ask_singles(struct inventory_reader *reader)
{
    struct round *round = &reader->round;
    while (reader->active && reader->in_flight < PARALLEL && round->bare_next < round->bare_count &&
           reader->body_count + reader->in_flight < BATCH)
        ask(reader, round->bare[round->bare_next++], true);
}

/* Waits a moment while jobs need the fabric manager. */
static bool yields(struct inventory_reader *reader)
{
    if (!reader->hooks.busy(reader->hooks.arg) || reader->round.yields >= YIELDS_MAX)
        return false;
    reader->round.yields++;
    return true;
}

/* Whatever comes next in this round. */
void round_go_on(struct inventory_reader *reader)
{
    struct round *round = &reader->round;
    if (!reader->active || reader->working)
        return;
    const bool listed = round->pages > 0 && !round->next;
    if ((uv_hrtime() - round->begun_ns) / 1000000 > READ_MS_MAX) {
        give_up(reader, SELDOM, "reading took longer than %d minutes", READ_MS_MAX / 60000);
    } else if (listed && round->bare_next < round->bare_count &&
               reader->body_count + reader->in_flight < BATCH) {
        if (yields(reader))
            (void)uv_timer_start(&reader->timer, reader->timer.timer_cb, YIELD_MS, TICK_MS);
        else
            ask_singles(reader);
    } else if (reader->in_flight > 0) {
        return;
    } else if (reader->body_count > 0) {
        start_work(reader, WORK_SINGLES);
    } else if (round->kind == DOCUMENTS_KINDS) {
        bool fresh = false;
        for (int kind = 0; kind <= DOCUMENTS_CABLES; kind++)
            fresh |= round->fresh[kind];
        if (fresh) {
            start_work(reader, WORK_MAP);
        } else {
            adopt_documents(reader);
            succeed(reader);
        }
    } else if (listed) {
        end_kind(reader);
    } else if (yields(reader)) {
        (void)uv_timer_start(&reader->timer, reader->timer.timer_cb, YIELD_MS, TICK_MS);
    } else {
        ask_list(reader);
    }
}
