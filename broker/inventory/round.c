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

/* ---- a round ends ---- */

static void drop_bodies(struct inventory_reader *reader)
{
    for (size_t i = 0; i < reader->body_count; i++) {
        free(reader->bodies[i].link);
        free(reader->bodies[i].data);
    }
    reader->body_count = 0;
}

/* Of the list that is being read: what was asked for is not wanted any more. */
static void drop_list(struct inventory_reader *reader)
{
    struct round *round = &reader->round;
    struct garbage *garbage = &reader->garbage;
    garbage->bare = memory_resized(garbage->bare, garbage->bare_count + round->bare_count + 1,
                                   sizeof *garbage->bare);
    for (size_t i = 0; i < round->bare_count; i++)
        garbage->bare[garbage->bare_count++] = round->bare[i];
    free(round->bare);
    free(round->next);
    round->bare = NULL;
    round->next = NULL;
    round->bare_count = round->bare_next = round->bare_capacity = 0;
    round->pages = round->links = 0;
    round->plain = false;
    drop_bodies(reader);
    reader->serial++;
}

/* What has been adopted is not in round.read any more, and what it replaced is in the garbage. */
static void round_clear(struct inventory_reader *reader)
{
    drop_list(reader);
    documents_release(&reader->garbage.unused);
    reader->garbage.unused = reader->round.read;
    reader->round = (struct round){0};
    reader->active = false;
}

void round_free(struct inventory_reader *reader)
{
    round_clear(reader);
    documents_page_release(&reader->page);
    inventory_drop(&reader->garbage);
}

void round_end(struct inventory_reader *reader, int64_t polls)
{
    assert(!reader->working);
    round_clear(reader);
    inventory_work(reader, WORK_DROP);
    if (inventory_wants_partitions(reader))
        polls = 1;
    reader->due_ms = uv_now(reader->loop) + (uint64_t)(polls * reader->config->inventory_poll_ms);
}

static void next_kind(struct inventory_reader *reader);

/* The map is as good without them. */
static void give_up_partitions(struct inventory_reader *reader, const char *words)
{
    if (strcmp(words, reader->partition_error) != 0)
        log_line(LOG_WARNING, "inventory: %s (VNIs of partitions are as they were)", words);
    (void)snprintf(reader->partition_error, sizeof reader->partition_error, "%s", words);
    documents_clear(&reader->round.read, DOCUMENTS_PARTITIONS);
    reader->round.bytes = 0; /* what they took is not the map's */
    next_kind(reader);
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
    if (reader->round.kind == DOCUMENTS_PARTITIONS) {
        give_up_partitions(reader, words);
        return;
    }
    reader->shrunk = false;
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
    for (int kind = DOCUMENTS_SWITCHES; kind < DOCUMENTS_KINDS; kind++)
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

/* ---- what was decoded ---- */

static void next_kind(struct inventory_reader *reader)
{
    struct round *round = &reader->round;
    drop_list(reader);
    round->kind++;
    round->stamping = round->kind < DOCUMENTS_KINDS && reader->kept[round->kind].whole;
}

static void take_stamp(struct inventory_reader *reader)
{
    struct round *round = &reader->round;
    const bool same = documents_same(&reader->page.stamp, &reader->kept[round->kind].stamp);
    round->stamping = false;
    if (same)
        next_kind(reader);
}

static void adopt_partitions(struct inventory_reader *reader)
{
    struct documents *to = &reader->documents, *from = &reader->round.read;
    documents_clear(&reader->garbage.replaced, DOCUMENTS_PARTITIONS);
    reader->garbage.replaced.partitions = to->partitions;
    to->partitions = from->partitions;
    from->partitions = (struct documents_partitions){0};
    reader->kept[DOCUMENTS_PARTITIONS] = reader->round.kept[DOCUMENTS_PARTITIONS];
    reader->partition_error[0] = '\0';
    inventory_tell_partitions(reader);
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
    if (round->kind == DOCUMENTS_PARTITIONS)
        adopt_partitions(reader);
    next_kind(reader);
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
    round->next = memory_text(page->next);
    if (round->links > (size_t)FABRIC_PLACES * FABRIC_PORTS || round->pages > PAGES_MAX)
        give_up(reader, SELDOM, "%s: more links or pages than any fabric has",
                documents_path(round->kind));
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
    struct fabric_read *to = &reader->documents.fabric, *from = &round->read.fabric;
    struct fabric_read *garbage = &reader->garbage.replaced.fabric;
    for (int kind = DOCUMENTS_SWITCHES; kind < DOCUMENTS_KINDS; kind++)
        if (round->fresh[kind])
            reader->kept[kind] = round->kept[kind];
    if (round->fresh[DOCUMENTS_SWITCHES]) {
        garbage->switches = to->switches;
        to->switches = from->switches;
    }
    if (round->fresh[DOCUMENTS_PORTS]) {
        garbage->ports = to->ports;
        to->ports = from->ports;
    }
    if (round->fresh[DOCUMENTS_CABLES]) {
        garbage->cables = to->cables;
        to->cables = from->cables;
    }
    *from = (struct fabric_read){0};
}

static void adopt_map(struct inventory_reader *reader)
{
    const bool news = reader->change_count > 0 || !fabric_sum_empty(&reader->sum);
    const struct fabric_counts *counts = fabricmap_counts(reader->made);
    const bool first = !reader->map;
    reader->garbage.map = reader->map;
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
    reader->around.step(reader->around.arg, &event);
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

void round_worked(struct inventory_reader *reader)
{
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
    } else if (reader->what == WORK_PAGE) {
        take_page(reader);
    } else if (reader->what == WORK_MAP) {
        take_map(reader);
    }
    round_go_on(reader);
}

/* ---- requests ---- */

static void refuse(struct inventory_reader *reader, const struct fmapi_body *body)
{
    struct round *round = &reader->round;
    const bool not_there = body->status == 404 || body->status == 403 || body->status == 405;
    if (!round->plain && !round->stamping && (body->status == 400 || body->too_long) &&
        round->pages == 0)
        round->plain = true; /* it may not know the query */
    else
        give_up(reader, not_there ? SELDOM : 1, "%s cannot be read: %s",
                documents_path(round->kind), body->words);
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
    else if (kept->link && kept->length > DOCUMENT_BYTES_MAX)
        give_up(reader, SELDOM, "%.200s is longer than %d bytes", kept->link, DOCUMENT_BYTES_MAX);
    else if (!kept->link)
        inventory_work(reader, round->stamping ? WORK_STAMP : WORK_PAGE);
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
    const bool current = reader->active && asked->serial == reader->serial;
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
    round_go_on(reader);
}

static void ask(struct inventory_reader *reader, const char *link, bool single)
{
    struct asked *asked = memory_zeroed(sizeof *asked);
    asked->reader = reader;
    asked->serial = reader->serial;
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
    if (!inventory_yields(reader) || reader->round.yields >= YIELDS_MAX)
        return false;
    reader->round.yields++;
    (void)uv_timer_start(&reader->timer, reader->timer.timer_cb, YIELD_MS, TICK_MS);
    return true;
}

/* All lists are whole, or as they were. */
static void end_lists(struct inventory_reader *reader)
{
    bool fresh = false;
    for (int kind = DOCUMENTS_SWITCHES; kind < DOCUMENTS_KINDS; kind++)
        fresh |= reader->round.fresh[kind];
    if (fresh)
        inventory_work(reader, WORK_MAP);
    else
        succeed(reader);
}

/* Whatever comes next in this round; whether something else may come after it at once. */
static bool step(struct inventory_reader *reader)
{
    struct round *round = &reader->round;
    const bool listed = round->pages > 0 && !round->next;
    const bool room = reader->body_count + reader->in_flight < BATCH;
    if ((uv_hrtime() - round->begun_ns) / 1000000 > READ_MS_MAX) {
        give_up(reader, SELDOM, "reading took longer than %d minutes", READ_MS_MAX / 60000);
        return true;
    }
    if (listed && round->bare_next < round->bare_count && room) {
        if (!yields(reader))
            ask_singles(reader);
        return false;
    }
    if (reader->in_flight > 0)
        return false;
    if (reader->body_count > 0)
        inventory_work(reader, WORK_SINGLES);
    else if (round->kind == DOCUMENTS_KINDS)
        end_lists(reader);
    else if (listed)
        end_kind(reader);
    else if (yields(reader))
        return false;
    else
        ask_list(reader);
    return true;
}

void round_go_on(struct inventory_reader *reader)
{
    while (reader->active && !reader->working && step(reader))
        ;
}
