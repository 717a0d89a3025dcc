/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/steppath.h"
#include "core/relay/relay.h"
#include "core/requests/requests.h"

#include <assert.h>

/* What bearers ask for: cleanups and queries of steps. Each is judged by the token's scope, paid
 * for from the reservation's credit and, a cleanup, on disk before it is answered; cleanup.c
 * carries it out. */

enum {
    CLEANUPS_MAX = 1000,       /* of one reservation, at once */
    CLEANUPS_ALL_MAX = 100000, /* of all; the more there are, the fewer each may have, */
    CLEANUPS_SHARE = 64,       /* a part of what is left, */
    CLEANUPS_MIN = 8,          /* but so many always */
    CLEANUP_COSTS_MS = 20,     /* each that is asked for: 50 a second in the long run, */
    CLEANUP_CREDIT_MS = 20000, /* a thousand at once */
};

static const char *outside_scope(struct core *core, const struct core_event *event)
{
    assert(event->u.cleanup.scopes || event->u.cleanup.scope_count == 0);
    assert(event->kind == CORE_CLEANUP);
    for (size_t i = 0; i < event->u.cleanup.scope_count; i++) {
        const char *scope = event->u.cleanup.scopes[i];
        if (!steppath_within(event->u.cleanup.step, scope))
            return core_text(core,
                             "step %.100s is outside of what this token may clean up after: %.100s "
                             "and what is below",
                             event->u.cleanup.step, scope);
    }
    return NULL;
}

/* Every request costs, also one that is merged with another. */
static bool charge_request(const struct core *core, struct cleaner *k)
{
    assert(k->paid_until_ms <= core->now_ms + CLEANUP_CREDIT_MS);
    if (k->paid_until_ms < core->now_ms)
        k->paid_until_ms = core->now_ms;
    if (k->paid_until_ms + CLEANUP_COSTS_MS > core->now_ms + CLEANUP_CREDIT_MS)
        return false;
    k->paid_until_ms += CLEANUP_COSTS_MS;
    return true;
}

static bool may_add_cleanup(const struct core *core, const struct cleaner *k)
{
    uint64_t pending = core->cleanups.pending;
    uint64_t left = pending < CLEANUPS_ALL_MAX ? CLEANUPS_ALL_MAX - pending : 0;
    uint64_t share = CLEANUPS_MIN + left / CLEANUPS_SHARE;
    return k->count < (share < CLEANUPS_MAX ? share : CLEANUPS_MAX);
}

static void answer_too_many(struct core *core, uint64_t ticket, const struct cleaner *k)
{
    core_answer(core, ticket, ANSWER_TOO_MANY, NULL,
                core_text(core,
                          "too many cleanups are asked for: %u of this job wait, %llu of all jobs; "
                          "ask for a whole subtree at once, or later",
                          k->count, (unsigned long long)core->cleanups.pending));
}

void core_cleanup(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_CLEANUP);
    const char *step = event->u.cleanup.step;
    assert(step);
    bool below = event->u.cleanup.below;
    struct reservation *r = ledger_by_number(&core->ledger, event->u.cleanup.number);
    const char *why_not = outside_scope(core, event);
    if (r && r->origin == ORIGIN_FOUND && r->state == JOB_ACTIVE)
        r = NULL; /* no token of it was ever given here (I6) */
    if (!r || why_not) {
        core_answer(core, event->ticket, !r ? ANSWER_NOT_FOUND : ANSWER_OUTSIDE, NULL,
                    !r ? "the reservation is over, and its trees with it" : why_not);
        return;
    }
    if (!cleanup_has_trees(r) || relay_step_is_empty(r, step, below)) {
        core_answer(core, event->ticket, ANSWER_CLEANED, r, NULL);
        return;
    }
    const char *barred = cleanup_barred(core, r);
    if (barred) {
        core_answer(
            core, event->ticket, ANSWER_GIVEN_UP, NULL,
            core_text(core, "the trees are not removed: %s: %s", barred, cleanup_allow_login));
        return;
    }
    struct cleaner *k = cleaner_of(r);
    bool paid = charge_request(core, k);
    struct cleanup *c = paid ? cleaner_covering(k, step, below) : NULL;
    /* What is about to be given up is no help; and it is renewed only by the same request. */
    if (c && c->give_up_ms - core->now_ms < core->config.cleanup_timeout_ms / 2)
        c = NULL;
    bool known = paid && cleaner_find(k, step, below);
    if (!paid || (!c && !known && !may_add_cleanup(core, k))) {
        answer_too_many(core, event->ticket, k);
        return;
    }
    if (!c) {
        int64_t give_up_ms = core->now_ms + core->config.cleanup_timeout_ms;
        core_save_record(
            core, (struct record){.kind = RECORD_CLEANUP,
                                  .u.cleanup = {r->number, step, give_up_ms, (uint8_t)below}});
        c = cleaner_find(k, step, below);
    }
    if (c == k->cleanups[0] && (k->op.call != 0 || k->pieces_known))
        c->again = true;
    if (event->u.cleanup.wait_ms > 0)
        core_wait(&c->waiters, event->ticket)->due_ms = core->now_ms + event->u.cleanup.wait_ms;
    else
        core_answer(core, event->ticket, ANSWER_ACCEPTED, r, NULL);
    if (reservation_relayed(r))
        (void)relay_of(core, r); /* its trees are learned: the next cleanups profit */
    core_act(core, r);
}

/* The trees of a relayed job are known. */
static bool answer_from_memory(struct core *core, uint64_t ticket, const struct reservation *r)
{
    assert(reservation_valid(r));
    struct fmcall_steps *steps = memory_zeroed(sizeof *steps);
    core_discard(core, steps);
    if (!relay_list(r, steps))
        return false;
    core_discard(core, (void *)(uintptr_t)steps->steps);
    core_answer(core, ticket, ANSWER_STEPS, r, NULL)->steps = steps;
    return true;
}

void core_steps(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_STEPS);
    assert(event->u.steps.cluster);
    assert(event->u.steps.job);
    struct reservation *r =
        ledger_newest(&core->ledger, event->u.steps.cluster, event->u.steps.job);
    if (!r) {
        core_answer(core, event->ticket, ANSWER_NOT_FOUND, NULL,
                    core_text(core, "job %.130s of %.40s has no reservation", event->u.steps.job,
                              event->u.steps.cluster));
        return;
    }
    if (!cleanup_has_trees(r)) {
        core_answer(core, event->ticket, ANSWER_STEPS, r, NULL)->steps = &cleanup_no_steps;
        return;
    }
    if (answer_from_memory(core, event->ticket, r))
        return;
    struct cleaner *k = cleaner_of(r);
    /* Before all that is not under way: its request waits for an answer. */
    struct cleanup *c = cleaner_query(k, k->op.call != 0);
    core_wait(&c->waiters, event->ticket)->due_ms = core->now_ms + event->u.steps.wait_ms;
    core_act(core, r);
}
