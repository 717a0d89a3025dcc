/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fabric/cleanup.h"

#include "base/memory.h"
#include "base/steppath.h"
#include "core/act.h"
#include "core/fabric/call_done.h"
#include "core/relay/relay.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The holder of a job's token may have the trees of its steps removed, and of no others (F19, I6).
 * Which way that goes is learned from the fabric manager's refusals, for each job anew:
 *
 *                     what a step has          ends it
 *                     (STEPS)
 *   at first          the job's token          the token, a step at a time (END_STEP), so that the
 *                                              fabric manager sees to the scope too
 *   by_trees          the token                the token, tree by tree (END_TREE)
 *   steps_by_login    the login: it only     as before
 *                     reads
 *   by_login          the login                the login, a step at a time: if the site allows it
 *
 * What a step has is asked for only where it must be known: by_trees, and for all below a step. */

const struct fmcall_steps cleanup_no_steps;

/* ---- answers ---- */

static void answer_steps(struct core *core, struct cleanup *c, const struct reservation *r,
                         const struct fmcall_steps *steps)
{
    assert(c->query);
    assert(steps);
    size_t first = core->effect_count;
    core_answer_waiters(core, &c->waiters, ANSWER_STEPS, r, NULL);
    for (size_t i = first; i < core->effect_count; i++)
        core->effects[i].u.answer.steps = steps;
}

static const char *not_yet(struct core *core, const struct reservation *r, const struct cleanup *c)
{
    assert(c->tries == 0 || r->cleaner->op.words);
    if (core->link.state != LINK_UP)
        return "the link to the fabric manager is not up";
    if (c->tries == 0)
        return c->query ? "the fabric manager has not answered yet"
                        : "the trees are not gone yet; they go in the background";
    return core_text(core, "the fabric manager: %s; it is asked again", r->cleaner->op.words);
}

static const char *not_in_time(struct core *core, const struct reservation *r,
                               const struct cleanup *c)
{
    assert(!c->query);
    if (core->link.state != LINK_UP)
        return "the link to the fabric manager was not up in time";
    if (c->tries == 0)
        return "it was not done in time";
    return core_text(core, "not done in time, the fabric manager said last: %s",
                     r->cleaner->op.words);
}

static void answer_overdue_waiters(struct core *core, const struct reservation *r,
                                   struct cleanup *c)
{
    assert(r->cleaner);
    for (struct waiter **link = &c->waiters, *w; (w = *link);) {
        if (w->due_ms > core->now_ms) {
            link = &w->next;
            continue;
        }
        *link = w->next;
        core_answer(core, w->ticket, ANSWER_PENDING, r, not_yet(core, r, c));
        free(w);
    }
}

/* ---- an end: the cleanup is gone after each of these, but where one says "again" ---- */

static void end_cleanup(struct core *core, struct reservation *r, struct cleanup *c,
                        enum answer_kind kind, const char *detail)
{
    assert(!c->query);
    assert(r->cleaner->count > 0);
    core_answer_waiters(core, &c->waiters, kind, r, detail);
    char *step = memory_text(c->step); /* the cleanup goes before its record is written */
    core_discard(core, step);
    core_save_record(core, (struct record){.kind = RECORD_CLEANED,
                                           .u.cleanup = {.number = r->number,
                                                         .step = step,
                                                         .give_up_ms = c->give_up_ms,
                                                         .below = c->below}});
}

/* What can be done next, for the log and for the answer alike. */
#define SOONER "they stay until the job ends; to be rid of them sooner, "
static const char ask_again[] = SOONER "ask again with mcastctl cleanup or mcast-cleanup";
const char cleanup_allow_login[] = SOONER "set [hwcoll] cleanup_login = yes, reload, and ask again";
static const char remove_there[] = SOONER "remove them at the fabric manager";

static void give_up_cleanup(struct core *core, struct reservation *r, struct cleanup *c,
                            const char *words, const char *next)
{
    assert(!c->query);
    assert(next);
    core->cleanups.given_up++;
    if (c->tries > 0)
        relay_doubt(r);
    core_trace_of(core, r, TRACE_WARNING,
                  "the trees of step %.100s%s are not removed: %s -> given up, %s", c->step,
                  c->below ? " and below" : "", words, next);
    end_cleanup(core, r, c, ANSWER_GIVEN_UP,
                core_text(core, "the trees are not removed: %s: given up, %s", words, next));
}

static void finish_cleanup(struct core *core, struct reservation *r, struct cleanup *c)
{
    assert(!c->query);
    assert(c == r->cleaner->cleanups[0]);
    struct cleaner *k = r->cleaner;
    cleaner_forget_pieces(k);
    if (c->again) { /* not at once: endless repeats must not delay other steps */
        c->again = false;
        cleaner_move(k, c, false);
        return;
    }
    core->cleanups.done++;
    core_trace_of(core, r, TRACE_INFO, "the trees of step %.100s%s are removed", c->step,
                  c->below ? " and below" : "");
    end_cleanup(core, r, c, ANSWER_CLEANED, NULL);
}

/* ---- what to do next ---- */

bool cleanup_has_trees(const struct reservation *r)
{
    assert(reservation_valid(r));
    return r->state == JOB_ACTIVE && r->hwcoll == HWCOLL_RESERVED;
}

static bool uses_login(const struct core *core, const struct reservation *r,
                       const struct cleanup *c, enum fmcall_kind kind)
{
    assert(c == r->cleaner->cleanups[0]);
    const struct cleaner *k = r->cleaner;
    if (secret_none(r->token)) /* then core_cleanup has taken none that the site does not allow */
        return true;
    return c->query || (k->by_login && core->config.cleanup_login) ||
           (k->steps_by_login && kind == FMCALL_STEPS);
}

/* The next one whose time has come; it is the first then. NULL: none. */
static const struct cleanup *choose_cleanup(const struct core *core, struct cleaner *k)
{
    assert(k->op.call == 0);
    for (uint32_t i = 0; i < k->count; i++) {
        struct cleanup *c = k->cleanups[i];
        if (!c->query && c->retry_ms > core->now_ms)
            continue;
        if (i > 0)
            cleaner_move(k, c, true);
        return c;
    }
    return NULL;
}

/* With the login, the end of a step is the end of whichever life of the job has the name then. */
bool cleanup_may_hit_name(const struct reservation *r)
{
    assert(reservation_valid(r));
    const struct cleaner *k = r->cleaner;
    return k && k->op.call != 0 && k->sent_by_login && k->op.in_flight == FMCALL_END_STEP;
}

/* Of a relayed job no one need be asked. There are some: relay_step_is_empty was false, or they
 * were to be ended again. */
static void keep_known_pieces(const struct reservation *r, const struct cleanup *c)
{
    assert(c->below && !r->cleaner->pieces_known);
    struct fmcall_steps steps;
    if (relay_is_joining(r, c->step, true) || !relay_list(r, &steps))
        return;
    cleaner_keep_pieces(r->cleaner, c, &steps);
    if (r->cleaner->piece_count == 0)
        cleaner_forget_pieces(r->cleaner);
    relay_list_release(&steps);
}

static enum fmcall_kind next_call(const struct core *core, const struct reservation *r)
{
    assert(r->cleaner);
    assert(operation_valid(&r->cleaner->op));
    struct cleaner *k = r->cleaner;
    const struct cleanup *c;
    if (!cleanup_has_trees(r) || k->op.call != 0 || core->link.state != LINK_UP ||
        !(c = choose_cleanup(core, k)))
        return FMCALL_NONE;
    if (c->query)
        return FMCALL_STEPS;
    if (c->below && !k->by_trees && !k->pieces_known)
        keep_known_pieces(r, c);
    if (k->pieces_known)
        return k->by_trees ? FMCALL_END_TREE : FMCALL_END_STEP;
    return c->below || k->by_trees ? FMCALL_STEPS : FMCALL_END_STEP;
}

/* A relayed job's trees are listed, for it to be known which there are. */
static bool learns_trees(const struct core *core, const struct reservation *r)
{
    return cleanup_has_trees(r) && core->link.state == LINK_UP && relay_list_due(r) <= core->now_ms;
}

/* No request waits for it. */
static bool is_unhurried(const struct cleanup *c)
{
    return c->query && !c->waiters;
}

const char *cleanup_barred(const struct core *core, const struct reservation *r)
{
    assert(reservation_valid(r));
    return secret_none(r->token) && !core->config.cleanup_login
               ? "no token of the job is known, and [hwcoll] cleanup_login is off"
               : NULL;
}

void cleanup_resume(struct core *core, struct reservation *r)
{
    assert(r->cleaner);
    int64_t latest = core->now_ms + core->config.cleanup_timeout_ms;
    for (uint32_t i = 0; i < r->cleaner->count; i++) {
        if (r->cleaner->cleanups[i]->give_up_ms > latest)
            r->cleaner->cleanups[i]->give_up_ms = latest;
    }
}

void cleanup_act(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    struct cleaner *k = learns_trees(core, r) ? cleaner_of(r) : r->cleaner;
    if (!k)
        return;
    for (uint32_t i = 0, before; i < k->count; i += before == k->count) {
        before = k->count; /* fewer, when this one ends */
        struct cleanup *c = k->cleanups[i];
        bool in_flight = i == 0 && k->op.call != 0, wanted = cleanup_has_trees(r);
        if (!wanted && c->query)
            answer_steps(core, c, r, &cleanup_no_steps);
        else if (!wanted)
            core_answer_waiters(core, &c->waiters, ANSWER_CLEANED, r, NULL);
        answer_overdue_waiters(core, r, c);
        if (in_flight)
            continue;
        if (is_unhurried(c) && !learns_trees(core, r))
            cleaner_end(k, c);
        else if (wanted && !c->query && c->give_up_ms <= core->now_ms)
            give_up_cleanup(core, r, c, not_in_time(core, r, c), ask_again);
        else if (wanted && !c->query && cleanup_barred(core, r))
            give_up_cleanup(core, r, c, cleanup_barred(core, r), cleanup_allow_login);
    }
    if (learns_trees(core, r))
        (void)cleaner_query(k, k->count);
    enum fmcall_kind kind = next_call(core, r);
    enum lane lane =
        kind != FMCALL_NONE && is_unhurried(k->cleanups[0]) ? LANE_CHECK : LANE_CLEANUP;
    if (k->op.queued == kind && (kind == FMCALL_NONE || k->op.lane == (int)lane))
        return;
    callqueue_remove(&core->calls, &k->op);
    if (kind != FMCALL_NONE)
        callqueue_push(&core->calls, &k->op, lane, kind);
}

int64_t cleanup_deadline(const struct core *core, const struct reservation *r)
{
    assert(reservation_valid(r));
    const struct cleaner *k = r->cleaner;
    int64_t when = INT64_MAX;
    if (!k || !cleanup_has_trees(r))
        return when;
    bool calls = k->op.call == 0 && core->link.state == LINK_UP;
    for (uint32_t i = 0; i < k->count; i++) {
        const struct cleanup *c = k->cleanups[i];
        bool in_flight = i == 0 && k->op.call != 0;
        if (!c->query && !in_flight && c->give_up_ms < when)
            when = c->give_up_ms;
        if (calls && c->retry_ms > core->now_ms && c->retry_ms < when)
            when = c->retry_ms;
        for (const struct waiter *w = c->waiters; w; w = w->next) {
            if (w->due_ms < when)
                when = w->due_ms;
        }
    }
    return when;
}

void cleanup_begin(struct core *core, struct reservation *r, struct effect *effect)
{
    assert(r->cleaner && r->cleaner->count > 0);
    assert(operation_valid(&r->cleaner->op) && r->cleaner->op.call != 0);
    assert(!r->cleaner->pieces_known || r->cleaner->piece < r->cleaner->piece_count);
    struct cleaner *k = r->cleaner;
    const struct cleanup *c = k->cleanups[0];
    const struct cleanup_piece *piece = k->pieces_known ? &k->pieces[k->piece] : NULL;
    effect->u.call.about.step = piece ? piece->step : c->step;
    if (effect->u.call.kind == FMCALL_END_TREE)
        effect->u.call.about.tree = piece->tree;
    relay_note_cleanup(r);
    if (c->query)
        relay_note_list(core, r);
    bool login = uses_login(core, r, c, effect->u.call.kind);
    k->sent_by_login = login;
    if (!login)
        effect->u.call.about.token = r->token;
    core_trace_of(core, r, TRACE_DEBUG, "step %.100s%s, %s -> %s", c->query ? "list" : c->step,
                  c->below ? " and below" : "", login ? "with the login" : "with the job's token",
                  fmcall_kind_word(effect->u.call.kind));
}

/* ---- what came of it ---- */

static void retry_cleanup(struct core *core, struct reservation *r, struct cleanup *c,
                          const char *words)
{
    assert(!c->query);
    assert(words);
    struct cleaner *k = r->cleaner;
    c->retry_ms = core->now_ms + core_retry_wait(c->tries);
    c->tries++;
    core_discard(core, k->op.words);
    k->op.words = memory_text(words);
    if ((c->tries & (c->tries - 1)) == 0)
        core_trace_of(core, r, TRACE_NOTICE, "cleanup of step %.100s, try %u: %s -> again", c->step,
                      c->tries, words);
    cleaner_move(k, c, false); /* it may be about this step only */
}

/* It will not be done this way. */
static void try_another_way(struct core *core, struct reservation *r, struct cleanup *c,
                            enum fmcall_kind kind, const char *words)
{
    assert(!c->query);
    assert(fmcall_is_cleanup(kind));
    struct cleaner *k = r->cleaner;
    bool last_way = k->sent_by_login;
    cleaner_forget_pieces(k);
    if (!last_way && kind == FMCALL_END_STEP) {
        k->by_trees = true;
    } else if (!last_way && kind == FMCALL_STEPS) {
        k->steps_by_login = true;
    } else if (!last_way && core->config.cleanup_login) {
        k->by_login = true;
        k->by_trees = false;
    } else if (last_way) {
        give_up_cleanup(core, r, c,
                        core_text(core, "the fabric manager refuses the login: %s", words),
                        remove_there);
    } else {
        give_up_cleanup(
            core, r, c,
            core_text(core,
                      "the job's token does not open them (the fabric manager: %s), and "
                      "[hwcoll] cleanup_login is off",
                      words),
            cleanup_allow_login);
    }
}

/* A job that made trees under such a name (it sets FI_CXI_COLL_JOB_STEP_ID itself) cannot have
 * them removed before the job ends, and would not know. Once a job: it is asked for often. */
static void log_unreachable(struct core *core, struct reservation *r,
                            const struct fmcall_steps *steps)
{
    assert(r->cleaner && steps);
    const char *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < steps->count; i++) {
        if (steppath_valid(steps->steps[i].step))
            continue;
        first = count++ == 0 ? steps->steps[i].step : first;
    }
    if (count == 0 || r->cleaner->unreachable_logged)
        return;
    r->cleaner->unreachable_logged = true;
    core_trace_of(
        core, r, TRACE_WARNING,
        "fabric manager lists trees of %zu step%s whose name is none, first "
        "\"%.100s\" -> no cleanup reaches them, they stay until the job ends; see to what "
        "sets FI_CXI_COLL_JOB_STEP_ID there",
        count, count == 1 ? "" : "s", first);
}

static void steps_shown(struct core *core, struct reservation *r, struct cleanup *c,
                        const struct fmcall_steps *steps)
{
    assert(c == r->cleaner->cleanups[0]);
    struct cleaner *k = r->cleaner;
    uint32_t ended = k->ended;
    k->ended = 0;
    if (steps) {
        relay_learn(r, steps, k->op.sent_ms);
        cleaner_keep_pieces(k, c, steps);
    }
    if (k->piece_count == 0)
        finish_cleanup(core, r, c);
    else if (k->by_trees && k->pieces[0].tree + UINT32_C(1) == ended)
        retry_cleanup(core, r, c, "it lists a tree that it has ended");
}

static void call_succeeded(struct core *core, struct reservation *r, struct cleanup *c,
                           enum fmcall_kind kind, const struct fmcall_steps *steps)
{
    assert(c == r->cleaner->cleanups[0]);
    assert(fmcall_is_cleanup(kind));
    struct cleaner *k = r->cleaner;
    if (kind == FMCALL_END_STEP)
        relay_end_step(r, k->pieces_known ? k->pieces[k->piece].step : c->step);
    if (kind == FMCALL_STEPS)
        steps_shown(core, r, c, steps);
    else if (kind == FMCALL_END_TREE) {
        /* A tree is known by its number, which another step's may get as soon as it is free: so
         * before each that is ended, the trees of the step are listed again. */
        k->ended = k->pieces[k->piece].tree + UINT32_C(1);
        relay_end_tree(r, k->pieces[k->piece].step, k->pieces[k->piece].tree);
        cleaner_forget_pieces(k);
    } else if (!k->pieces_known || ++k->piece == k->piece_count)
        finish_cleanup(core, r, c);
}

static void query_done(struct core *core, struct reservation *r, struct cleanup *c,
                       enum fmcall_outcome outcome, const struct fmcall_steps *steps,
                       const char *words)
{
    assert(c->query);
    assert(c == r->cleaner->cleanups[0]);
    if (steps) /* with FM_OK only */
        relay_learn(r, steps, r->cleaner->op.sent_ms);
    if (outcome == FM_GONE) /* it contradicts the ledger: shown, and not learned */
        steps = &cleanup_no_steps;
    if (steps)
        answer_steps(core, c, r, steps);
    else
        core_answer_waiters(core, &c->waiters, ANSWER_GIVEN_UP, r,
                            core_text(core, "the fabric manager: %s", words));
    cleaner_end(r->cleaner, c);
}

bool cleanup_done(struct core *core, struct reservation *r, enum fmcall_kind kind,
                  enum fmcall_outcome outcome, const struct fmcall_steps *steps, const char *words)
{
    assert(r->cleaner && r->cleaner->count > 0);
    assert(fmcall_is_cleanup(kind));
    assert(r->cleaner->op.call == 0);
    struct cleanup *c = r->cleaner->cleanups[0];
    bool login = r->cleaner->sent_by_login;
    if (outcome == FM_OK && steps)
        log_unreachable(core, r, steps);
    /* One that is acted on late would hit the job's next life: its name must rest (F21). With the
     * token it cannot: that opens this life only. */
    if (login && kind == FMCALL_END_STEP && fmcall_unsure(outcome))
        core_operation(core, r)->release_settles_ms = core->now_ms + core->config.call_timeout_ms;
    if (kind != FMCALL_STEPS && fmcall_unsure(outcome))
        relay_unsettle(core, r);
    if (!cleanup_has_trees(r))
        cleaner_forget_pieces(r->cleaner);
    else if (c->query)
        query_done(core, r, c, outcome, steps, words);
    else if (outcome == FM_OK || outcome == FM_GONE)
        call_succeeded(core, r, c, kind, outcome == FM_OK ? steps : NULL);
    else if (outcome == FM_REFUSED || outcome == FM_DENIED)
        try_another_way(core, r, c, kind, words);
    else
        retry_cleanup(core, r, c, words);
    core_act_on_lives(core, r->cluster, r->job); /* a newer one may have waited for this call */
    return login;
}
