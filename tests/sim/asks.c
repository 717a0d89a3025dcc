/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/asks.h"

#include "core/reservation/reservation.h"
#include "tests/sim/grow.h"
#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

static unsigned long long n(uint64_t number)
{
    return (unsigned long long)number;
}

void asks_release(struct sim *sim)
{
    struct asks *asks = &sim->asks;
    free(asks->all);
    free(asks->pending);
    free(asks->ended);
    memset(asks, 0, sizeof *asks);
}

static uint64_t given_up(const struct sim *sim)
{
    struct core_status status;
    core_status(sim->edge.core, &status);
    return status.cleanups.given_up;
}

/* ---- what is on disk, or about to be ---- */

static size_t pending_at(const struct asks *asks, const struct pending *of)
{
    size_t at = 0;
    while (at < asks->pending_count &&
           (asks->pending[at].number != of->number || asks->pending[at].step != of->step ||
            asks->pending[at].below != of->below))
        at++;
    return at;
}

static bool covers(const struct pending *p, uint64_t number, int step, bool below)
{
    return p->number == number &&
           (p->below ? steps_within(step, p->step) : !below && step == p->step);
}

static bool is_pending(const struct asks *asks, const struct ask *ask)
{
    for (size_t i = 0; i < asks->pending_count; i++)
        if (covers(&asks->pending[i], ask->number, ask->step, ask->below))
            return true;
    return false;
}

static struct pending pending_of(struct sim *sim, const struct cleanup_record *record)
{
    int step = steps_find(record->step);
    if (step < 0)
        sim_fail(sim, "I6", "a cleanup of step %.40s is saved, which nobody has", record->step);
    return (struct pending){record->number, step, record->below != 0};
}

static void put_pending(struct asks *asks, struct pending pending)
{
    GROW(asks->pending, asks->pending_count, asks->pending_room);
    asks->pending[asks->pending_count++] = pending;
}

static void forget_pending(struct asks *asks, uint64_t number)
{
    for (size_t i = asks->pending_count; i > 0; i--)
        if (asks->pending[i - 1].number == number)
            asks->pending[i - 1] = asks->pending[--asks->pending_count];
}

/* ---- one step of the core ---- */

void asks_step_begins(struct sim *sim, const struct request *arriving)
{
    struct asks *asks = &sim->asks;
    asks->given_up = given_up(sim);
    asks->arriving = NULL;
    if (!arriving || arriving->kind != REQUEST_CLEANUP)
        return;
    const struct cleanup_wish *wish = &arriving->cleanup;
    asks->arriving = arriving;
    if (!bearer_may(wish))
        return;
    GROW(asks->all, asks->count, asks->room);
    asks->all[asks->count++] = (struct ask){.number = wish->number,
                                            .step = wish->step,
                                            .below = wish->below,
                                            .trees = sim->fabric.last_tree};
}

/* I6: only what is asked for at this moment, and within its scope, is ever written down. */
static void cleanup_saved(struct sim *sim, const struct cleanup_record *record)
{
    const struct request *request = sim->asks.arriving;
    struct pending pending = pending_of(sim, record);
    const struct cleanup_wish *wish = request ? &request->cleanup : NULL;
    if (!wish || wish->number != pending.number || wish->step != pending.step ||
        wish->below != pending.below)
        sim_fail(sim, "I6", "number %llu: a cleanup of step %s is saved that nobody asked for",
                 n(pending.number), record->step);
    else if (!bearer_may(wish))
        sim_fail(sim, "I6", "number %llu: a cleanup of step %s is saved, which is out of scope",
                 n(pending.number), record->step);
    if (pending_at(&sim->asks, &pending) == sim->asks.pending_count) /* else it is renewed */
        put_pending(&sim->asks, pending);
}

static void cleaned_saved(struct sim *sim, const struct cleanup_record *record)
{
    struct asks *asks = &sim->asks;
    struct pending pending = pending_of(sim, record);
    size_t at = pending_at(asks, &pending);
    if (at == asks->pending_count) {
        sim_fail(sim, "F19", "number %llu: a cleanup of step %s ends that was not asked for",
                 n(pending.number), record->step);
        return;
    }
    asks->pending[at] = asks->pending[--asks->pending_count];
    GROW(asks->ended, asks->ended_count, asks->ended_room);
    asks->ended[asks->ended_count++] = pending;
}

static void gone_saved(struct sim *sim, uint64_t number)
{
    forget_pending(&sim->asks, number);
    for (size_t i = 0; i < sim->edge.call_count; i++)
        if ((sim->edge.calls[i].cleanup || sim->edge.calls[i].relayed) &&
            sim->edge.calls[i].number == number)
            sim_fail(sim, "calls", "number %llu is gone, and a call with its token is under way",
                     n(number));
}

void asks_saved(struct sim *sim, const struct record *record)
{
    if (record->kind == RECORD_CLEANUP)
        cleanup_saved(sim, &record->u.cleanup);
    else if (record->kind == RECORD_CLEANED)
        cleaned_saved(sim, &record->u.cleanup);
    else if (record->kind == RECORD_GONE)
        gone_saved(sim, record->u.gone);
}

/* F19: the trees that were there when it was asked for are gone. An old state of the fabric manager
 * that has come back may have brought them back; and a tree that a broker made after its lease, as
 * it was stopped between look and send, is in nobody's memory: it goes with the job. */
static void trees_are_gone(struct sim *sim, const struct cleanup_wish *wish, uint64_t trees)
{
    const struct entry *e = model_entry(&sim->model, wish->number);
    const struct object *object =
        e && e->token[0] ? fabric_opened_by(&sim->fabric, e->token) : NULL;
    for (int step = 0; step < STEPS && object && !sim->fabric.restored; step++) {
        for (int i = 0; i < STEP_TREES && steps_covered(step, wish->step, wish->below); i++)
            if (object->trees[step][i] != 0 && object->trees[step][i] <= trees &&
                !sim->fabric.owners[object->trees[step][i]].late)
                sim_fail(sim, "F19", "number %llu: a cleanup of step %s%s is done, %s has tree %u",
                         n(wish->number), steps_name(wish->step), wish->below ? " and below" : "",
                         steps_name(step), object->trees[step][i]);
    }
}

/* The core has not taken it. */
static void drop_newest(struct asks *asks)
{
    if (asks->arriving && bearer_may(&asks->arriving->cleanup))
        asks->count--;
}

static void cleaned(struct sim *sim, const struct request *request, const struct told *told)
{
    bool served = told->state == JOB_ACTIVE && told->hwcoll == HWCOLL_RESERVED;
    if (served) /* else its trees go, or have gone, with the reservation */
        trees_are_gone(sim, &request->cleanup, request->trees);
    if (request == sim->asks.arriving)
        drop_newest(&sim->asks);
}

/* An operator sees the trees of the job that he asked for, and each with its step. */
static void steps_answered(struct sim *sim, const struct request *request, const struct told *told)
{
    if (told->kind != ANSWER_STEPS && told->kind != ANSWER_PENDING &&
        told->kind != ANSWER_GIVEN_UP && told->kind != ANSWER_NOT_FOUND)
        sim_fail(sim, "answers", "a look at the steps of %s was answered: %s",
                 rm_job_name(request->job), answer_word(told->kind));
    if (told->kind == ANSWER_STEPS)
        joins_shown(sim, request, told);
    /* What was found again, after the fabric manager said that it was gone, has an older number. */
    const struct reservation_record *saved = disk_find(&sim->disk, told->number);
    bool found = saved && saved->origin == ORIGIN_FOUND;
    for (int step = 0; step < STEPS && !sim->fabric.restored && !sim->rewind.done && !found; step++)
        for (int i = 0; i < STEP_TREES; i++) {
            uint16_t tree = told->trees[step][i];
            if (tree != 0 && (sim->fabric.owners[tree].number != told->number ||
                              sim->fabric.owners[tree].step != step))
                sim_fail(sim, "F19", "tree %u of step %s is shown, number %llu does not have it",
                         tree, steps_name(step), n(told->number));
        }
}

void asks_answered(struct sim *sim, const struct request *request, const struct told *told)
{
    if (request->kind == REQUEST_STEPS) {
        steps_answered(sim, request, told);
        return;
    }
    const struct cleanup_wish *wish = &request->cleanup;
    const struct entry *e = model_entry(&sim->model, wish->number);
    bool right = false;
    switch (told->kind) {
    case ANSWER_OUTSIDE:
        right = !bearer_may(wish);
        break;
    case ANSWER_NOT_FOUND:
        right = !e || e->gone_batch || sim->rewind.done; /* its number is another one's now */
        drop_newest(&sim->asks);
        break;
    case ANSWER_ACCEPTED:
        right = bearer_may(wish) && wish->wait_ms == 0;
        break;
    case ANSWER_PENDING:
        right = bearer_may(wish) && wish->wait_ms > 0;
        break;
    case ANSWER_GIVEN_UP: /* at once: there is nothing that could be done */
        right = bearer_may(wish) && (wish->wait_ms > 0 || request == sim->asks.arriving);
        break;
    case ANSWER_CLEANED:
        right = bearer_may(wish);
        cleaned(sim, request, told);
        break;
    default:
        break;
    }
    if (!right)
        sim_fail(sim, told->kind == ANSWER_OUTSIDE || !bearer_may(wish) ? "I6" : "answers",
                 "number %llu: a cleanup of step %s, %s its scope, was answered: %s",
                 n(wish->number), steps_name(wish->step), bearer_may(wish) ? "within" : "outside",
                 answer_word(told->kind));
}

static bool ended_now(const struct asks *asks, const struct ask *ask)
{
    for (size_t i = 0; i < asks->ended_count; i++)
        if (covers(&asks->ended[i], ask->number, ask->step, ask->below))
            return true;
    return false;
}

/* One that no pending cleanup covers any more is done: all of its trees are gone, unless the core
 * has said that it gives up. */
void asks_step_ends(struct sim *sim, uint64_t batch)
{
    struct asks *asks = &sim->asks;
    bool gave_up = asks->ended_count > 0 && given_up(sim) > asks->given_up;
    for (size_t i = 0; i < asks->count && asks->ended_count > 0; i++) {
        struct ask *ask = &asks->all[i];
        if (ask->done_batch || !ended_now(asks, ask))
            continue;
        ask->excused |= gave_up;
        if (is_pending(asks, ask))
            continue;
        ask->done_batch = batch;
        struct cleanup_wish wish = {.number = ask->number, .step = ask->step, .below = ask->below};
        if (!ask->excused)
            trees_are_gone(sim, &wish, ask->trees);
    }
    asks->ended_count = 0;
    asks->arriving = NULL;
}

/* ---- what leaves the broker ---- */

/* Of equal ones it does not matter which was told: they are done together. */
void asks_told(struct sim *sim, const struct request *request)
{
    const struct cleanup_wish *wish = &request->cleanup;
    struct asks *asks = &sim->asks;
    if (request->told.kind != ANSWER_ACCEPTED)
        return;
    for (size_t i = 0; i < asks->count; i++) {
        struct ask *ask = &asks->all[i];
        if (ask->number == wish->number && ask->step == wish->step && ask->below == wish->below &&
            ask->trees == request->trees)
            ask->told = true;
    }
}

/* What it is asked to remove is on disk: it goes on after a crash. */
void asks_leaves(struct sim *sim, const struct word *word)
{
    int step = steps_find(word->u.call.step);
    if (word->u.call.kind == FMCALL_STEPS)
        return;
    for (size_t i = 0; i < sim->disk.cleanup_count; i++) {
        const struct cleanup_record *saved = &sim->disk.cleanups[i]->u.cleanup;
        struct pending pending = pending_of(sim, saved);
        if (covers(&pending, word->u.call.number, step, false))
            return;
    }
    sim_fail(sim, "intent", "%s of step %s of %s leaves, and no record on disk says so",
             fmcall_kind_word(word->u.call.kind), word->u.call.step, word->u.call.name);
}

/* ---- at the fabric manager ---- */

/* I6: the step must have been asked for, in the life of the job that it belongs to. What sits under
 * our names without us having made it is ours to remove anyway. */
void asks_acted(struct sim *sim, const struct object *object, int step,
                const struct wire_call *call)
{
    const struct asks *asks = &sim->asks;
    if (object->foreign || object->unknown)
        sim_fail(sim, "I6", "a step of %s, which may be another's, is touched", object->name);
    if (object->number == 0 || sim->fabric.restored)
        return;
    for (size_t i = 0; i < asks->count; i++) {
        const struct ask *ask = &asks->all[i];
        if (ask->number == object->number && steps_covered(step, ask->step, ask->below))
            return;
    }
    sim_fail(sim, "I6", "%s with %s touches step %s of number %llu, which nobody asked for",
             fmcall_kind_word(call->kind), call->shown[0] ? "a token" : "the login",
             steps_name(step), n(object->number));
}

/* ---- crashes ---- */

void asks_died(struct sim *sim, uint64_t durable)
{
    struct asks *asks = &sim->asks;
    for (size_t i = 0; i < asks->count; i++) {
        struct ask *ask = &asks->all[i];
        if (ask->done_batch > durable)
            ask->done_batch = 0;
    }
    asks->arriving = NULL;
    asks->ended_count = asks->pending_count = 0;
}

void asks_rewound(struct sim *sim)
{
    for (size_t i = 0; i < sim->asks.count; i++) {
        sim->asks.all[i].excused = true;
        sim->asks.all[i].told = false;
    }
}

void asks_restarted(struct sim *sim)
{
    for (size_t i = 0; i < sim->disk.cleanup_count; i++)
        put_pending(&sim->asks, pending_of(sim, &sim->disk.cleanups[i]->u.cleanup));
}

/* ---- after a quiet spell ---- */

/* Whether the reservation is there, and has what could be cleaned. */
static bool is_served(const struct sim *sim, uint64_t number)
{
    const struct reservation_record *saved = disk_find(&sim->disk, number);
    return saved && saved->state == JOB_ACTIVE && saved->hwcoll == HWCOLL_RESERVED;
}

void asks_check_quiet(struct sim *sim)
{
    const struct asks *asks = &sim->asks;
    struct core_status status;
    core_status(sim->edge.core, &status);
    if (status.cleanups.pending != sim->disk.cleanup_count)
        sim_fail(sim, "I2", "%llu cleanups are pending, on disk are %zu",
                 n(status.cleanups.pending), sim->disk.cleanup_count);
    for (size_t i = 0; i < asks->pending_count; i++)
        if (is_served(sim, asks->pending[i].number))
            sim_fail(sim, "F19", "number %llu: the cleanup of step %s is still pending",
                     n(asks->pending[i].number), steps_name(asks->pending[i].step));
    for (size_t i = 0; i < asks->count; i++) {
        const struct ask *ask = &asks->all[i];
        if (ask->told && !ask->done_batch && is_served(sim, ask->number))
            sim_fail(sim, "F19",
                     "number %llu: the cleanup of step %s was accepted, and is neither done nor "
                     "given up",
                     n(ask->number), steps_name(ask->step));
    }
}
