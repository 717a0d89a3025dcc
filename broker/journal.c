/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/journal.h"

#include "broker/clock.h"
#include "broker/log/log.h"
#include "broker/turn.h"
#include "base/idset.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* An effect that waits until it may be performed, as the core gave it. Its texts are copies, of an
 * answer there is only the ticket, and of an event what is no text: core_event_at shows it whole.
 */
struct deferred {
    struct deferred *next;
    int code; /* of an answer: 0, or why it may not be given (ERROR_IO, ERROR_FULL, …) */
    struct effect effect;
    struct event_record event; /* effect.u.event points here */
};

enum { SPARE_MAX = 512 };

/* All zero: empty. */
struct queue {
    struct deferred *first, *last;
};

/* Records, and the effects that wait for them. */
struct pack {
    struct batch *batch; /* NULL: no records */
    size_t records;
    bool awaited; /* to be committed without waiting for more records */
    /* The reservations that they are about, by the last 16 bits of their numbers: an answer about
     * another one with the same bits waits, too, for nothing. */
    struct idset about;
    struct queue queue;
};

struct journal {
    struct store *store;
    struct journal_sink sink;
    struct pack packs[3];
    struct pack *gathering;
    struct pack *writing[2]; /* the older first: being committed, or failed and to be retried */
    struct queue ready;
    struct queue spare; /* performed, their memory is kept: each request needs two of them */
    unsigned spare_count;
    unsigned in_progress; /* of `writing` the store has so many */
    bool offered;         /* the store may take `gathering`, too */
    bool flushing;        /* journal_flush is at work further up the stack */
    bool deposed;         /* ERROR_NOT_LEADER was seen */
    uint64_t failed;      /* attempts in a row */
    struct journal_counters counters;
    uv_poll_t poll;
    uv_timer_t retry, unawaited;
    unsigned open_handles;
    void (*closed)(void *arg);
    void *closed_arg;
};

static void queue_push(struct queue *queue, struct deferred *deferred)
{
    deferred->next = NULL;
    if (queue->first)
        queue->last->next = deferred;
    else
        queue->first = deferred;
    queue->last = deferred;
}

static struct deferred *queue_pop(struct queue *queue)
{
    struct deferred *deferred = queue->first;
    if (deferred)
        queue->first = deferred->next;
    return deferred;
}

/* Moves all of `from` behind those of `to`. */
static void queue_append(struct queue *to, struct queue *from)
{
    for (struct deferred *deferred; (deferred = queue_pop(from));)
        queue_push(to, deferred);
}

/* The effect's pointers die with the next step of the core. */
static struct deferred *deferred_create(struct journal *journal, const struct effect *effect)
{
    struct deferred *deferred = queue_pop(&journal->spare);
    if (deferred)
        journal->spare_count--;
    else
        deferred = memory_zeroed(sizeof *deferred);
    struct effect *copy = &deferred->effect;
    deferred->code = 0;
    *copy = *effect;
    if (effect->kind == EFFECT_ANSWER) {
        copy->u.answer = (struct answer){.ticket = effect->u.answer.ticket};
    } else if (effect->kind == EFFECT_CALL) {
        copy->u.call.about.name = memory_text(effect->u.call.about.name);
        copy->u.call.about.step = memory_text(effect->u.call.about.step);
        copy->u.call.about.body = memory_text(effect->u.call.about.body);
        copy->u.call.about.token = secret_copy(effect->u.call.about.token);
    } else if (effect->kind == EFFECT_JOBPOLL) {
        copy->u.jobpoll.cluster = memory_text(effect->u.jobpoll.cluster);
    } else if (effect->kind == EFFECT_EVENT) {
        deferred->event = *effect->u.event;
        deferred->event.cluster = deferred->event.job = deferred->event.detail = NULL;
        copy->u.event = &deferred->event;
    }
    return deferred;
}

/* It has been performed, or never will be. A session token does not outlive its call. */
static void deferred_destroy(struct journal *journal, struct deferred *deferred)
{
    struct effect *effect = &deferred->effect;
    if (effect->kind == EFFECT_CALL) {
        free((char *)(uintptr_t)effect->u.call.about.name);
        free((char *)(uintptr_t)effect->u.call.about.step);
        free((char *)(uintptr_t)effect->u.call.about.body);
        secret_wipe(&effect->u.call.about.token);
    } else if (effect->kind == EFFECT_JOBPOLL) {
        free((char *)(uintptr_t)effect->u.jobpoll.cluster);
    }
    if (journal->spare_count == SPARE_MAX) {
        free(deferred);
        return;
    }
    queue_push(&journal->spare, deferred);
    journal->spare_count++;
}

static void queue_release(struct journal *journal, struct queue *queue)
{
    for (struct deferred *deferred; (deferred = queue_pop(queue));)
        deferred_destroy(journal, deferred);
}

/* Answers in the queue do not wait for the disk: they become ready with the failure. The others
 * stay, in order, or are dropped when nothing can be saved any more. */
static void fail_answers(struct journal *journal, struct queue *queue, int code)
{
    struct queue all = *queue;
    queue->first = NULL;
    for (struct deferred *deferred; (deferred = queue_pop(&all));) {
        if (deferred->effect.kind == EFFECT_ANSWER) {
            deferred->code = code;
            queue_push(&journal->ready, deferred);
        } else if (code == ERROR_NOT_LEADER) {
            deferred_destroy(journal, deferred);
        } else {
            queue_push(queue, deferred);
        }
    }
}

static void on_done(void *arg, const struct commit_result *result, struct batch *failed);

static void swap_packs(struct pack **one, struct pack **other)
{
    struct pack *pack = *one;
    *one = *other;
    *other = pack;
}

static void commit_oldest(struct journal *journal)
{
    journal->in_progress = 1;
    store_commit(journal->store, journal->writing[0]->batch, on_done, journal);
}

static void begin_commit(struct journal *journal)
{
    if (journal->writing[0]->batch || !journal->gathering->batch || !journal->gathering->awaited)
        return;
    swap_packs(&journal->writing[0], &journal->gathering);
    (void)uv_timer_stop(&journal->unawaited);
    commit_oldest(journal);
}

static void withdraw_offer(struct journal *journal)
{
    if (!journal->offered)
        return;
    journal->offered = false;
    if (store_withdraw(journal->store))
        return;
    swap_packs(&journal->writing[1], &journal->gathering);
    journal->in_progress++;
}

static void commit_succeeded(struct journal *journal, const struct commit_result *result)
{
    if (journal->counters.failing)
        log_line(LOG_NOTICE, "saving works again, after %llu failed attempts records=%zu",
                 (unsigned long long)journal->failed, journal->writing[0]->records);
    struct journal_counters *counters = &journal->counters;
    struct pack *written = journal->writing[0];
    journal->failed = 0;
    counters->failing = false;
    counters->error = (struct error){0};
    counters->commits++;
    counters->records += written->records;
    histogram_add(&counters->times, result->took_us);
    histogram_add(&counters->sizes, (int64_t)written->records);

    struct queue durable = written->queue;
    written->queue.first = NULL;
    written->batch = NULL;
    written->records = 0;
    written->awaited = false;
    idset_init(&written->about);
    swap_packs(&journal->writing[0], &journal->writing[1]);
    begin_commit(journal); /* the disk works on the next batch while this one's effects run */
    queue_append(&journal->ready, &durable);
}

static void on_retry(uv_timer_t *timer)
{
    struct journal *journal = timer->data;
    commit_oldest(journal);
}

static void commit_failed(struct journal *journal, const struct error *error, struct batch *batch)
{
    struct journal_counters *counters = &journal->counters;
    counters->commit_failures++;
    if (!counters->failing || strcmp(counters->error.text, error->text) != 0)
        log_line(LOG_ERR,
                 "cannot save: %s; requests are refused until it works, retrying every second; do "
                 "not restart mcastd",
                 error->text);
    if (!counters->failing)
        counters->failing_ms = clock_read_ns(CLOCK_REALTIME) / 1000000;
    counters->failing = true;
    counters->error = *error;
    journal->failed++;
    journal->writing[0]->batch = batch;
    fail_answers(journal, &journal->writing[0]->queue, error->code);
    fail_answers(journal, &journal->gathering->queue, error->code);
    (void)uv_timer_start(&journal->retry, on_retry, JOURNAL_RETRY_MS, 0);
}

static void leadership_lost(struct journal *journal, const struct error *error, struct batch *batch)
{
    journal->deposed = true;
    journal->counters.error = *error;
    batch_destroy(batch);
    batch_destroy(journal->gathering->batch);
    journal->writing[0]->batch = journal->gathering->batch = NULL;
    journal->writing[0]->records = journal->gathering->records = 0;
    fail_answers(journal, &journal->writing[0]->queue, ERROR_NOT_LEADER);
    fail_answers(journal, &journal->gathering->queue, ERROR_NOT_LEADER);
    journal->sink.deposed(journal->sink.arg);
}

static void on_done(void *arg, const struct commit_result *result, struct batch *failed)
{
    struct journal *journal = arg;
    withdraw_offer(journal);
    journal->in_progress--;
    if (result->code == 0) {
        commit_succeeded(journal, result);
    } else {
        struct error error = result->error;
        error.code = result->code;
        if (result->code == ERROR_NOT_LEADER)
            leadership_lost(journal, &error, failed);
        else
            commit_failed(journal, &error, failed);
    }
    journal_flush(journal);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct journal *journal = poll->data;
    (void)events;
    if (status < 0)
        log_line(LOG_ERR, "waiting for the store failed: %s", uv_strerror(status));
    struct turn *turn = journal->sink.turn;
    const char *before = turn ? turn_enter(turn, "saying what is saved") : NULL;
    store_dispatch(journal->store);
    if (turn)
        turn_leave(turn, before);
}

static void on_unawaited(uv_timer_t *timer)
{
    struct journal *journal = timer->data;
    journal->gathering->awaited = true; /* the end of this turn commits it */
}

struct journal *journal_create(uv_loop_t *loop, struct store *store,
                               const struct journal_sink *sink, struct error *err)
{
    struct journal *journal = memory_zeroed(sizeof *journal);
    journal->store = store;
    journal->sink = *sink;
    journal->counters.sizes.scale = HISTOGRAM_SIZES;
    journal->gathering = &journal->packs[0];
    journal->writing[0] = &journal->packs[1];
    journal->writing[1] = &journal->packs[2];
    int rc = uv_poll_init(loop, &journal->poll, store_fd(store));
    if (rc < 0) {
        (void)error_set(err, ERROR_IO, "cannot watch the store: %s", uv_strerror(rc));
        free(journal);
        return NULL;
    }
    (void)uv_timer_init(loop, &journal->retry);
    (void)uv_timer_init(loop, &journal->unawaited);
    journal->open_handles = 3;
    journal->poll.data = journal->retry.data = journal->unawaited.data = journal;
    (void)uv_poll_start(&journal->poll, UV_READABLE, on_readable);
    return journal;
}

void journal_save(struct journal *journal, const struct record *record)
{
    if (journal->deposed)
        return;
    withdraw_offer(journal);
    struct pack *pack = journal->gathering;
    if (!pack->batch)
        pack->batch = batch_create();
    batch_add(pack->batch, record);
    pack->records = batch_size(pack->batch);
    if (record->kind == RECORD_RESERVATION)
        idset_add(&pack->about, (uint16_t)record->u.reservation.number);
    if (record->kind == RECORD_GONE)
        idset_add(&pack->about, (uint16_t)record->u.gone);
    if (record->kind == RECORD_NODE) /* shown with the reservation */
        idset_add(&pack->about, (uint16_t)record->u.node.number);
    if (record->kind == RECORD_SUM)
        idset_add(&pack->about, (uint16_t)record->u.sum.number);
}

/* Whose records came last; without records when there are none. */
static struct pack *last_pack(struct journal *journal)
{
    if (journal->gathering->batch)
        return journal->gathering;
    return journal->writing[journal->writing[1]->batch != NULL];
}

void journal_defer(struct journal *journal, const struct effect *effect)
{
    struct pack *last = last_pack(journal);
    bool is_answer = effect->kind == EFFECT_ANSWER;
    if (journal->deposed && !is_answer)
        return;
    struct deferred *deferred = deferred_create(journal, effect);
    if (!last->batch) {
        deferred->code = journal->deposed ? ERROR_NOT_LEADER : 0;
        queue_push(&journal->ready, deferred);
    } else if (journal->counters.failing && is_answer) {
        deferred->code = journal->counters.error.code;
        queue_push(&journal->ready, deferred);
    } else {
        queue_push(&last->queue, deferred);
        last->awaited |= effect->kind != EFFECT_EVENT;
    }
}

void journal_flush(struct journal *journal)
{
    if (journal->flushing || !journal->ready.first)
        return;
    journal->flushing = true;
    while (journal->ready.first) {
        for (struct deferred *deferred; (deferred = queue_pop(&journal->ready));) {
            journal->sink.perform(journal->sink.arg, &deferred->effect, deferred->code);
            deferred_destroy(journal, deferred);
        }
        journal->sink.flushed(journal->sink.arg);
    }
    journal->flushing = false;
}

void journal_turn(struct journal *journal)
{
    begin_commit(journal);
    if (!journal->gathering->batch)
        return;
    if (!journal->gathering->awaited && !uv_is_active((uv_handle_t *)&journal->unawaited))
        (void)uv_timer_start(&journal->unawaited, on_unawaited, JOURNAL_UNAWAITED_MS, 0);
    /* The store may go on with what has gathered by itself, until there is more to gather. */
    if (journal->in_progress == 1 && journal->gathering->awaited && !journal->offered)
        journal->offered = store_offer(journal->store, journal->gathering->batch, on_done, journal);
}

bool journal_about(const struct journal *journal, uint64_t number)
{
    return idset_has(&journal->writing[0]->about, (uint16_t)number) ||
           idset_has(&journal->writing[1]->about, (uint16_t)number) ||
           idset_has(&journal->gathering->about, (uint16_t)number);
}

bool journal_clean(const struct journal *journal)
{
    return !journal->gathering->batch && !journal->writing[0]->batch && !journal->ready.first &&
           !journal->flushing;
}

const struct journal_counters *journal_counters(const struct journal *journal)
{
    return &journal->counters;
}

uint32_t journal_unsaved(const struct journal *journal)
{
    return (uint32_t)(journal->gathering->records + journal->writing[0]->records +
                      journal->writing[1]->records);
}

static void on_closed(uv_handle_t *handle)
{
    struct journal *journal = handle->data;
    if (--journal->open_handles != 0)
        return;
    void (*closed)(void *) = journal->closed;
    void *arg = journal->closed_arg;
    free(journal);
    closed(arg);
}

void journal_destroy(struct journal *journal, void (*closed)(void *arg), void *arg)
{
    withdraw_offer(journal);
    if (journal->in_progress == 0)
        batch_destroy(journal->writing[0]->batch);
    batch_destroy(journal->gathering->batch);
    queue_release(journal, &journal->gathering->queue);
    queue_release(journal, &journal->writing[0]->queue);
    queue_release(journal, &journal->writing[1]->queue);
    queue_release(journal, &journal->ready);
    for (struct deferred *deferred; (deferred = queue_pop(&journal->spare));)
        free(deferred);
    journal->closed = closed;
    journal->closed_arg = arg;
    uv_close((uv_handle_t *)&journal->poll, on_closed);
    uv_close((uv_handle_t *)&journal->retry, on_closed);
    uv_close((uv_handle_t *)&journal->unawaited, on_closed);
}
