/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fabric/call_done.h"

#include "base/memory.h"
#include "core/fabric/link.h"
#include "core/reconcile/reconcile.h"
#include "core/relay/relay.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Waits between tries of a call: a reserve has little time, all else has much. */
enum {
    RESERVE_RETRY_MS = 250,
    RETRY_MS = 500,
    RETRY_MAX_MS = 30 * 1000,
    TIMEOUTS_TO_LOSE = 3, /* in a row */
};

int64_t core_retry_wait(uint32_t tries)
{
    int64_t wait = (int64_t)RETRY_MS << (tries < 6 ? tries : 6);
    return wait < RETRY_MAX_MS ? wait : RETRY_MAX_MS;
}

static int64_t retry_wait(const struct reservation *r)
{
    assert(r->op);
    return r->hwcoll == HWCOLL_WANTED ? RESERVE_RETRY_MS : core_retry_wait(r->op->tries);
}

static void retry_call(struct core *core, struct reservation *r, enum fmcall_kind kind,
                       enum fmcall_outcome outcome, const char *words)
{
    const int64_t wait_ms =
        kind == FMCALL_RESERVE && r->hwcoll != HWCOLL_WANTED ? 0 : retry_wait(r);
    assert(reservation_valid(r));
    assert(r->op->call == 0);
    r->op->retry_ms = core->now_ms + wait_ms;
    if (r->hwcoll == HWCOLL_WANTED)
        core_give_up_sooner(core, r);
    uint32_t tries = ++r->op->tries;
    core->link.fault = outcome;
    (void)snprintf(core->link.error, sizeof core->link.error, "%s of %s-%s: %s",
                   fmcall_kind_word(kind), r->cluster, r->job, words);
    if ((tries & (tries - 1)) == 0) /* no log full of a manager that is out of order for a day */
        core_trace_of(core, r, TRACE_NOTICE, "%s, try %u: %s -> again in %lld ms",
                      fmcall_kind_word(kind), tries, words, (long long)wait_ms);
    core_act(core, r);
}

static void set_side(struct core *core, struct reservation *r, enum fm_side side)
{
    assert(reservation_valid(r));
    if (r->fm_side == (uint8_t)side)
        return;
    struct reservation_record rec = reservation_record(r);
    rec.fm_side = (uint8_t)side;
    (void)core_save(core, &rec);
}

/* What is there after an answer to RESERVE. While an earlier try may have been, or may yet be,
 * acted on, no more than "maybe": so that after a crash, too, the release is asked for once more
 * when that has settled. */
static enum fm_side side_after(const struct reservation *r, enum fm_side answered)
{
    assert(r->op);
    return r->op->unsure ? FM_SIDE_MAYBE : answered;
}

/* A no to a RESERVE that no request waits for any more; other lives of the job may have waited for
 * its end. */
static void no_longer_asked(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    assert(r->hwcoll != HWCOLL_WANTED);
    set_side(core, r, side_after(r, FM_SIDE_NOTHING));
    core_act_on_lives(core, r->cluster, r->job);
}

/* No earlier try of ours is open, so it is another's: not ours to delete (B11). */
static void name_is_taken(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    assert(!r->op->unsure);
    conflict_raise(core, r->cluster, r->job, "this broker did not make it");
    if (r->hwcoll == HWCOLL_WANTED)
        core_finish_reserve(
            core, r, HWCOLL_DENIED, FM_SIDE_NOTHING, (struct secret){0},
            "the fabric manager has a reservation under its name that this broker did not "
            "make");
    else
        no_longer_asked(core, r);
}

static void reserve_done(struct core *core, struct reservation *r, enum fmcall_outcome outcome,
                         struct secret token, const char *words)
{
    assert(reservation_valid(r));
    assert(r->op && r->op->call == 0);
    assert(words);
    bool wanted = r->hwcoll == HWCOLL_WANTED;
    switch (outcome) {
    case FM_OK:
        if (wanted) {
            r->op->evidence.listed_from = core->last_list + 1;
            const struct reservation *other = tokenset_find(&core->tokens, token);
            if (!other)
                core_finish_reserve(core, r, HWCOLL_RESERVED, side_after(r, FM_SIDE_THERE), token,
                                    NULL);
            else /* I6: with that each could reach the trees of the other */
                core_finish_reserve(
                    core, r, HWCOLL_DENIED, side_after(r, FM_SIDE_THERE), (struct secret){0},
                    core_text(core,
                              "the fabric manager gave it the session token that %s-%s "
                              "has: unusable",
                              other->cluster, other->job));
            return;
        }
        core_trace_of(core, r, TRACE_NOTICE, "reserved late, no longer wanted -> release");
        set_side(core, r, side_after(r, FM_SIDE_THERE));
        core_act(core, r);
        return;
    case FM_EXISTS:
        if (!r->op->unsure && !core_unanswered(core, r->cluster, r->job)) {
            name_is_taken(core, r);
            return;
        }
        core_trace_of(core, r, TRACE_NOTICE,
                      "the fabric manager has one under this name already -> release it first");
        set_side(core, r, wanted ? FM_SIDE_THERE : side_after(r, FM_SIDE_THERE));
        /* It is there, it is not, it is there: not without a pause. */
        r->op->retry_ms = r->op->released_none && wanted ? core->now_ms + RESERVE_RETRY_MS : 0;
        core_act(core, r);
        return;
    case FM_UNREACHED:
    case FM_UNAUTHORIZED:
        /* Surely not acted on: forget that this try was made. */
        if (wanted && !reservation_waits(r)) { /* there is time to try again */
            r->op->asked = r->op->unsure;
            retry_call(core, r, FMCALL_RESERVE, outcome, words);
        } else if (wanted)
            core_finish_reserve(core, r, HWCOLL_UNAVAILABLE, side_after(r, FM_SIDE_NOTHING),
                                (struct secret){0}, words);
        else if (r->fm_side == FM_SIDE_MAYBE)
            no_longer_asked(core, r);
        return;
    case FM_DENIED:
    case FM_REFUSED: /* never: no job's token is shown to reserve */
    case FM_GONE:    /* a 404 to POST: this fabric manager has no such path */
        if (wanted)
            core_finish_reserve(core, r, HWCOLL_DENIED, side_after(r, FM_SIDE_NOTHING),
                                (struct secret){0}, words);
        else
            no_longer_asked(core, r);
        return;
    case FM_BUSY:
    case FM_NOT_ROUTED:
    case FM_TIMEOUT:
    case FM_BROKEN:
        core_note_unanswered(core, r);
        r->op->reserve_settles_ms = core->now_ms + core->config.call_timeout_ms;
        core_discard(core, r->op->words);
        r->op->words = memory_text(words);
        retry_call(core, r, FMCALL_RESERVE, outcome, words);
        return;
    }
}

static void check_done(struct core *core, struct reservation *r, enum fmcall_outcome outcome,
                       struct secret token, const char *words)
{
    assert(reservation_valid(r));
    assert(r->op && r->op->call == 0);
    assert(words);
    bool other = !secret_none(r->token) && !secret_none(token) && !secret_equal(r->token, token);
    if (r->hwcoll != HWCOLL_RESERVED || r->state != JOB_ACTIVE) {
        r->op->doubted = false;
        if (outcome == FM_OK && r->state == JOB_RELEASING && r->origin == ORIGIN_FOUND)
            listing_leftover(core, r, token);
        core_act_on_lives(core, r->cluster, r->job);
    } else if (outcome == FM_GONE || (outcome == FM_OK && other)) {
        missing_said_gone(core, r, other);
    } else if (outcome == FM_OK) {
        missing_forget(core, r->op);
        if (r->op->retried && !secret_none(token)) /* and no start need doubt it any more */
            set_side(core, r, FM_SIDE_THERE);
        r->op->doubted = r->op->retried = false;
        r->op->tries = 0;
        missing_watch(core);
        core_act(core, r);
    } else {
        retry_call(core, r, FMCALL_CHECK, outcome, words);
    }
}

void core_released_at_fm(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    assert(r->op && r->op->call == 0);
    struct operation *op = r->op;
    bool wanted = r->hwcoll == HWCOLL_WANTED;
    /* A RESERVE that was given up may still be acted on, after this. So may an earlier RELEASE,
     * which would take what is to be reserved next; and a crash would make us forget it. */
    int64_t settles = wanted ? op->release_settles_ms : op->reserve_settles_ms;
    if (op->sent_ms < settles) {
        op->retry_ms = settles;
        core_act(core, r);
        return;
    }
    if (op->sent_ms >= op->reserve_settles_ms)
        op->unsure = false;
    op->tries = 0;
    op->retry_ms = 0;
    op->list = core->link.list;
    op->evidence.not_routed_ms = op->evidence.unlisted_ms = 0;
    /* What still wants addresses checks the budget again: the name may have been taken by a stray
     * while the reservation itself waited for addresses (I8). */
    set_side(core, r, wanted && op->unsure ? FM_SIDE_MAYBE : FM_SIDE_NOTHING);
    core_act_on_lives(core, r->cluster, r->job);
}

static void release_done(struct core *core, struct reservation *r, enum fmcall_outcome outcome,
                         const char *words)
{
    assert(reservation_valid(r));
    assert(r->op && r->op->call == 0);
    assert(words);
    r->op->released_none = outcome == FM_GONE;
    if (outcome == FM_OK || outcome == FM_GONE) {
        core_released_at_fm(core, r);
        return;
    }
    if (fmcall_unsure(outcome))
        r->op->release_settles_ms = core->now_ms + core->config.call_timeout_ms;
    r->op->evidence.not_routed_ms = outcome == FM_NOT_ROUTED ? core->now_ms : 0;
    if (outcome != FM_NOT_ROUTED)
        r->op->evidence.unlisted_ms = 0;
    retry_call(core, r, FMCALL_RELEASE, outcome, words);
}

/* What came late counts, too. While nothing is known, any end of a call tells that to wait for
 * longer would not help (a call cut off is not answered any more). */
static void learn_reserve_time(struct core *core, enum fmcall_outcome outcome, int64_t took_ms)
{
    struct reservewait *wait = &core->reservewait;
    int64_t known_ms = reservewait_longest(wait);
    assert(took_ms >= 0);
    if (outcome != FM_OK && known_ms >= 0)
        return;
    reservewait_note(wait, core->now_ms, outcome == FM_OK ? took_ms : 0);
    if (core->config.reserve_timeout_ms == RESERVE_TIMEOUT_AUTO && outcome == FM_OK &&
        2 * took_ms > RESERVEWAIT_MAX_MS && 2 * known_ms <= RESERVEWAIT_MAX_MS)
        core_trace(
            core, TRACE_WARNING,
            "the fabric manager took %lld ms to reserve, and jobs wait %d ms at most -> they "
            "may start without hardware collectives: see what slows it; with [hwcoll] "
            "through = relay they start at once, with [fm] reserve_timeout = TIME they wait",
            (long long)took_ms, RESERVEWAIT_MAX_MS);
}

/* For core_status: it is up, and jobs get nothing from it all the same. */
static void note_reserve(struct core *core, enum fmcall_outcome outcome, const char *words)
{
    struct link *link = &core->link;
    assert(words);
    if (outcome == FM_OK || outcome == FM_EXISTS) {
        link->reserves_failed = 0;
        return;
    }
    if (link->reserves_failed++ == 0)
        link->reserves_failing_ms = core->now_ms;
    link->reserve_fault = outcome;
    (void)snprintf(link->reserve_error, sizeof link->reserve_error, "%s", words);
}

void core_call_done(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_CALL_DONE);
    uint64_t id = event->u.call.id;
    enum fmcall_outcome outcome = event->u.call.outcome;
    struct secret token = event->u.call.token;
    const char *words = event->u.call.words;
    enum fmcall_kind kind;
    struct operation *op = callqueue_end(&core->calls, id, &kind);
    if (!op) {
        core_trace(core, TRACE_WARNING, "an answer to call %llu, which is not under way -> ignored",
                   (unsigned long long)id);
        return;
    }
    int64_t sent_ms = op->sent_ms, took_ms = event->u.call.took_ms;
    if (took_ms == 0)
        took_ms = core->now_ms - sent_ms;
    if (!words)
        words = fmcall_outcome_word(outcome);
    if (outcome != FM_UNREACHED && outcome != FM_TIMEOUT && outcome != FM_NOT_ROUTED)
        link_heard(core);

    bool about_link = true;
    if (fmcall_is_relayed(kind)) {
        relay_done(core, op, event);
        about_link = false; /* as of all that is done with a job's token */
    } else if (fmcall_is_cleanup(kind))
        about_link = cleanup_done(core, op->owner, kind, outcome, event->u.call.steps, words);
    else if (kind == FMCALL_RESERVE) {
        learn_reserve_time(core, outcome, took_ms);
        note_reserve(core, outcome, words);
        reserve_done(core, op->owner, outcome, token, words);
    } else if (kind == FMCALL_CHECK)
        check_done(core, op->owner, outcome, token, words);
    else
        release_done(core, op->owner, outcome, words);

    /* What was sent before the link was lost says nothing of the link that there is now. */
    if (!about_link || sent_ms < core->link.lost_ms)
        return;
    /* Last: a lost link makes every job that waits give up, this one was to have its answer first.
     */
    if (outcome == FM_UNREACHED || outcome == FM_UNAUTHORIZED)
        link_lost(core, outcome, words);
    else if (outcome != FM_TIMEOUT && outcome != FM_BROKEN)
        core->link.timeouts = 0;
    else if (++core->link.timeouts >= TIMEOUTS_TO_LOSE) /* one may be about its object */
        link_lost(core, outcome,
                  outcome == FM_BROKEN
                      ? words
                      : core_text(core,
                                  "%s, as the calls before; if it is well and only slow, "
                                  "raise [fm] timeout",
                                  words));
}
