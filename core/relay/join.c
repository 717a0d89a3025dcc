/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/steppath.h"
#include "core/act.h"
#include "core/fabric/call_done.h"
#include "core/fabric/cleanup.h"
#include "core/relay/relay.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a relayed job gets for a join or a leave (B9).
 *
 *   its reserve is under way, or the link is down    the request waits
 *   it has its addresses                             it is passed on with the session token
 *   it has none, or has lost them                    denied: libfabric does without
 *
 * A request that waits is answered JOIN_LATER in time, and libfabric sends it again. */

enum {
    ANSWER_MS = 4000,    /* libfabric waits 5 s */
    UNUSED_MS = 2000,    /* a tree that was made too late is kept so long; libfabric pauses 100 ms
                            before it asks again */
    RETRY_MS = 250,      /* between tries at the fabric manager */
    REQUESTS_AT_ONCE = 8 /* of one job, in the call queue: the others of it wait */
};

/* ---- answers ---- */

/* The fabric manager's "no": libfabric looks for two digits before the first colon of what comes
 * with it, and reads beyond the text when there are none. */
enum { NONE_LEFT = 507 };

static bool has_digits(const char *words)
{
    assert(words);
    return words[0] >= '0' && words[0] <= '9' && words[1] >= '0' && words[1] <= '9' &&
           words[2] == ':';
}

static void deny_join(struct core *core, uint64_t ticket, int status, const char *words)
{
    assert(words);
    core_answer(core, ticket, ANSWER_JOIN_DENIED, NULL, words)->status =
        status == NONE_LEFT && !has_digits(words) ? 0 : status;
}

static void deny_waiters(struct core *core, struct relayed *one, int status, const char *words)
{
    for (struct waiter *w; (w = one->waiters);) {
        one->waiters = w->next;
        deny_join(core, w->ticket, status, words);
        free(w);
    }
}

static void answer_later(struct core *core, uint64_t ticket, const char *words)
{
    assert(words);
    core_answer(core, ticket, ANSWER_JOIN_LATER, NULL, words);
}

static void answer_overdue(struct core *core, const struct reservation *r, struct relayed *one)
{
    struct waiter *w = one->waiters;
    assert(!w || !w->next || one->kind == FMCALL_LEAVE);
    if (!w || w->due_ms > core->now_ms)
        return;
    one->waiters = w->next;
    answer_later(core, w->ticket,
                 r->hwcoll == HWCOLL_WANTED ? "the job's addresses are not reserved yet: ask again"
                                            : "the tree is not made yet: ask again");
    free(w);
}

/* Why the job has no trees, and will have none; NULL: it has, or may. */
static const char *why_none(struct core *core, const struct reservation *r)
{
    assert(reservation_valid(r));
    if (r->state != JOB_ACTIVE)
        return "01: the job is over";
    if (reservation_wants_hwcoll(r))
        return NULL;
    return core_text(core, "01: the job has no multicast addresses: %s",
                     r->reason ? r->reason : hwcoll_state_word(r->hwcoll));
}

/* ---- requests ---- */

static void wait_for_answer(struct core *core, struct relayed *one, uint64_t ticket)
{
    assert(!one->waiters || one->kind == FMCALL_LEAVE);
    core_wait(&one->waiters, ticket)->due_ms = core->now_ms + ANSWER_MS;
}

static bool is_within(const char *step, const char *const *scopes, size_t count)
{
    assert(step && (scopes || count == 0));
    for (size_t i = 0; i < count; i++) {
        if (!steppath_within(step, scopes[i]))
            return false;
    }
    return true;
}

static struct reservation *find_relayed(struct core *core, uint64_t ticket, uint64_t number)
{
    struct reservation *r = ledger_by_number(&core->ledger, number);
    if (r && r->state == JOB_ACTIVE && reservation_relayed(r))
        return r;
    core_answer(core, ticket, ANSWER_NOT_FOUND, NULL,
                r && r->state == JOB_ACTIVE
                    ? "the job's trees are made at the fabric manager, not here"
                    : "the job is over");
    return NULL;
}

static const char *limit_words(struct core *core, const struct reservation *r)
{
    assert(reservation_relayed(r));
    return core_text(core, "01: the job has %u multicast addresses, and all are in use",
                     r->addresses);
}

void relay_join(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_JOIN);
    const uint64_t ticket = event->ticket;
    struct reservation *r = find_relayed(core, ticket, event->u.join.number);
    if (!r)
        return;
    struct relay *relay = relay_of(core, r);
    const char *none = why_none(core, r);
    struct relayed *one = relayed_find_again(relay, event->u.join.step, event->u.join.body);
    if (!is_within(event->u.join.step, event->u.join.scopes, event->u.join.scope_count))
        core_answer(core, ticket, ANSWER_OUTSIDE, NULL,
                    "the token is not for this step: see mcastctl token show");
    else if (!relayed_has_vni(core, r, event->u.join.vni))
        core_answer(core, ticket, ANSWER_OUTSIDE, NULL,
                    core_text(core, "VNI %u is not one of the job's", event->u.join.vni));
    else if (none)
        deny_join(core, ticket, NONE_LEFT, none);
    else if (!one && relay->complete && relay->tree_count + relayed_joins(relay) >= r->addresses)
        deny_join(core, ticket, NONE_LEFT, limit_words(core, r));
    else if (!one && !relayed_has_room(core, relay, strlen(event->u.join.body)) && relay->count > 0)
        answer_later(core, ticket, "too many requests of this job are under way: ask again");
    else if (!one && !relayed_has_room(core, relay, strlen(event->u.join.body)))
        deny_join(core, ticket, 0, "too many requests of all jobs are under way");
    else {
        if (!one)
            one = relayed_add(core, r, FMCALL_JOIN, event->u.join.step, event->u.join.body);
        wait_for_answer(core, one, ticket);
    }
    core_act(core, r);
}

/* Whose tree it is, and so whether the token is for it, is not known. */
static void await_list(struct core *core, struct reservation *r, uint64_t ticket)
{
    struct relay *relay = r->relay;
    assert(!relay->complete);
    if (relay->awaited_ms == 0)
        relay->awaited_ms = core->now_ms;
    if (core->now_ms - relay->awaited_ms < core->config.relay_timeout_ms)
        answer_later(core, ticket, "the job's trees are being listed: ask again");
    else
        core_answer(core, ticket, ANSWER_OUTSIDE, NULL,
                    "the token is for some steps only, and the fabric manager has not told of "
                    "which step this tree is");
    core_act(core, r);
}

void relay_leave(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_LEAVE);
    struct reservation *r = find_relayed(core, event->ticket, event->u.leave.number);
    if (!r)
        return;
    struct relay *relay = relay_of(core, r);
    const struct relay_tree *tree = relay_find_tree(relay, event->u.leave.tree);
    if (tree && !is_within(tree->step, event->u.leave.scopes, event->u.leave.scope_count)) {
        core_answer(core, event->ticket, ANSWER_OUTSIDE, NULL,
                    "the token is not for the step of this tree: see mcastctl token show");
        return;
    }
    if (!tree && why_none(core, r)) {
        core_answer(core, event->ticket, ANSWER_NOT_FOUND, NULL, why_none(core, r));
        return;
    }
    if (!tree && relay->complete) { /* it is gone: with another answer fi_close fails */
        core_answer(core, event->ticket, ANSWER_LEFT, NULL, NULL);
        return;
    }
    if (!tree && event->u.leave.scope_count > 0) {
        await_list(core, r, event->ticket);
        return;
    }
    /* One a tree: a second one might end a tree that has got its number meanwhile. */
    struct relayed *one = relayed_find_leave(relay, event->u.leave.tree);
    if (!one && relay->count >= RELAYED_MAX) {
        answer_later(core, event->ticket, "too many requests of this job are under way: ask again");
        return;
    }
    if (!one) {
        one = relayed_add(core, r, FMCALL_LEAVE, tree ? tree->step : "", NULL);
        one->tree = event->u.leave.tree;
    }
    if (one->give_up_ms == INT64_MAX) /* no client waited for it until now */
        one->give_up_ms = core->now_ms + core->config.relay_timeout_ms;
    wait_for_answer(core, one, event->ticket);
    core_act(core, r);
}

/* ---- what to do next ---- */

static void answer_joined(struct core *core, struct reservation *r, struct relayed *one)
{
    assert(one->made && one->waiters);
    struct waiter *w = one->waiters;
    struct fmcall_tree *tree = memory_zeroed(sizeof *tree);
    *tree = (struct fmcall_tree){one->tree, core_text(core, "%s", one->root)};
    core_discard(core, tree);
    one->waiters = NULL;
    core_answer(core, w->ticket, ANSWER_JOINED, r, NULL)->tree = tree;
    free(w);
    relayed_end(core, r, one);
}

/* For who asks now; who asks no more has no use for it. */
static void make_again(struct core *core, struct relayed *one)
{
    assert(one->kind == FMCALL_JOIN && one->op.call == 0);
    one->made = false;
    one->give_up_ms = core->now_ms + (one->waiters ? core->config.relay_timeout_ms : 0);
    one->refused = !one->waiters;
}

/* A tree that no task was given goes, also when a task that named its number was told that it was
 * given up. */
static void end_refused(struct core *core, struct reservation *r, struct relayed *one)
{
    assert(one->op.call == 0 && !one->waiters);
    if (!one->begins_anew) {
        relayed_end(core, r, one);
        return;
    }
    one->begins_anew = one->refused = false;
    one->give_up_ms = INT64_MAX;
}

/* A no to it. Between two requests of its sender it is kept for the second one, which would begin
 * it anew, and so on for ever. */
static void refuse_request(struct core *core, struct reservation *r, struct relayed *one,
                           int status, const char *words)
{
    assert(words && one->op.call == 0);
    if (one->kind == FMCALL_LEAVE && one->unsure)
        relay_doubt(r);
    if (one->waiters) {
        deny_waiters(core, one, status, words);
        end_refused(core, r, one);
        return;
    }
    core_discard(core, one->op.words);
    one->op.words = memory_text(words);
    one->refused = true;
    one->status = status;
    one->give_up_ms = core->now_ms + UNUSED_MS;
}

/* A tree that was not asked for again goes. */
static void delete_unused(struct core *core, struct reservation *r, struct relayed *one)
{
    assert(one->made && !one->waiters);
    core_trace_of(core, r, TRACE_INFO,
                  "tree %u of step %.100s was made too late, it is not used -> deleted", one->tree,
                  one->step);
    one->kind = FMCALL_LEAVE;
    one->made = one->unsure = false;
    one->unused = true;
    one->tries = 0;
    one->give_up_ms = INT64_MAX; /* none waits for it, and it counts until the job ends */
}

static void give_up_request(struct core *core, struct reservation *r, struct relayed *one)
{
    assert(!one->made && one->op.call == 0);
    const char *words = one->op.words ? one->op.words
                        : core->link.state == LINK_UP
                            ? "the fabric manager was busy with other calls"
                            : "the link to the fabric manager is not up";
    core_trace_of(core, r, TRACE_NOTICE, "%s of step %.100s: %s -> given up",
                  fmcall_kind_word(one->kind), one->step, words);
    one->begins_anew = one->unused;
    refuse_request(core, r, one, 0,
                   core_text(core, "not done within %lld s: %s",
                             (long long)core->config.relay_timeout_ms / 1000, words));
}

/* The fabric manager does not delete it. */
static bool stays_unfit(const struct relay *relay, const struct relayed *one)
{
    assert(relay);
    const struct relayed *leave = relayed_find_leave(relay, one->tree);
    return one->unfit && !one->refused && (!leave || leave->refused);
}

static void update_request(struct core *core, struct reservation *r, struct relayed *one)
{
    assert(operation_valid(&one->op));
    const char *none = why_none(core, r);
    if (none)
        deny_waiters(core, one, NONE_LEFT, none);
    answer_overdue(core, r, one);
    if (one->op.call != 0)
        return;
    if (one->made && !relay_find_tree(r->relay, one->tree)) /* with its step, by a cleanup */
        make_again(core, one);
    one->unfit = one->unfit && relay_find_tree(r->relay, one->tree);
    if (none)
        relayed_end(core, r, one);
    else if (one->refused && one->waiters)
        refuse_request(core, r, one, one->status, one->op.words);
    else if (stays_unfit(r->relay, one))
        refuse_request(core, r, one, 0, one->op.words);
    else if (one->made && one->waiters)
        answer_joined(core, r, one);
    else if (one->give_up_ms <= core->now_ms && one->made)
        delete_unused(core, r, one);
    else if (one->give_up_ms <= core->now_ms && one->refused)
        end_refused(core, r, one);
    else if (one->give_up_ms <= core->now_ms)
        give_up_request(core, r, one);
}

static bool is_ready(const struct core *core, const struct reservation *r,
                     const struct relayed *one)
{
    return one->op.call == 0 && !one->made && !one->refused && !one->unfit &&
           one->retry_ms <= core->now_ms && r->hwcoll == HWCOLL_RESERVED &&
           core->link.state == LINK_UP;
}

void relay_act(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    struct relay *relay = r->relay;
    uint32_t at_once = 0;
    if (!relay)
        return;
    for (struct relayed *one = relay->requests, *next; one; one = next) {
        next = one->next;
        update_request(core, r, one);
    }
    for (struct relayed *one = relay->requests; one; one = one->next) {
        const bool ready = is_ready(core, r, one) && at_once < REQUESTS_AT_ONCE;
        at_once += ready || one->op.call != 0;
        if (ready == (one->op.queued != FMCALL_NONE))
            continue;
        if (ready)
            callqueue_push(&core->calls, &one->op, LANE_RELAY, one->kind);
        else
            callqueue_remove(&core->calls, &one->op);
    }
}

int64_t relay_deadline(const struct core *core, const struct reservation *r)
{
    assert(reservation_valid(r));
    int64_t when = relay_list_due(r);
    if (when <= core->now_ms || !cleanup_has_trees(r)) /* it is in the queue; or for nothing */
        when = INT64_MAX;
    for (const struct relayed *one = r->relay ? r->relay->requests : NULL; one; one = one->next) {
        const bool called = one->op.call != 0;
        if (!called && one->give_up_ms < when)
            when = one->give_up_ms;
        if (!called && one->retry_ms > core->now_ms && one->retry_ms < when)
            when = one->retry_ms;
        if (one->waiters && one->waiters->due_ms < when)
            when = one->waiters->due_ms;
    }
    return when;
}

void relay_begin(struct core *core, struct operation *op, struct effect *effect)
{
    const struct relayed *one = (const struct relayed *)op;
    const struct reservation *r = op->owner;
    assert(r->hwcoll == HWCOLL_RESERVED && !secret_none(r->token));
    effect->u.call.about.step = one->step;
    effect->u.call.about.tree = one->tree;
    effect->u.call.about.body = one->body;
    effect->u.call.about.token = r->token;
    core_trace_of(core, r, TRACE_DEBUG, "step %.100s -> %s", one->step,
                  fmcall_kind_word(one->kind));
}

/* ---- what came of it ---- */

static void tree_left(struct core *core, struct reservation *r, struct relayed *one)
{
    assert(one->kind == FMCALL_LEAVE && one->op.call == 0);
    relay_drop_tree(r->relay, one->tree);
    core_answer_waiters(core, &one->waiters, ANSWER_LEFT, NULL, NULL);
    relayed_end(core, r, one);
}

static void add_tree(struct core *core, struct reservation *r, struct relayed *one, uint16_t id)
{
    assert(id < FMCALL_TREES && one->op.call == 0);
    struct relayed *leave = relayed_find_leave(r->relay, id);
    if (leave && leave->op.call == 0) /* the number is another tree's now */
        tree_left(core, r, leave);
    for (struct relayed *other = r->relay->requests; other; other = other->next)
        other->unfit = other->unfit && other->tree != id;
    relay_add_tree(r->relay, id, one->step);
    one->tree = id;
}

static void tree_joined(struct core *core, struct reservation *r, struct relayed *one,
                        const struct fmcall_tree *tree)
{
    assert(one->kind == FMCALL_JOIN && !one->made);
    add_tree(core, r, one, tree->id);
    one->made = true;
    (void)snprintf(one->root, sizeof one->root, "%s", tree->root);
    one->give_up_ms = core->now_ms + UNUSED_MS;
}

static void retry_request(struct core *core, struct reservation *r, struct relayed *one,
                          int64_t wait_ms, const char *words)
{
    assert(wait_ms > 0);
    core_discard(core, one->op.words);
    one->op.words = memory_text(words);
    one->retry_ms = core->now_ms + wait_ms;
    if ((one->tries & (one->tries + 1)) == 0)
        core_trace_of(core, r, TRACE_NOTICE, "%s of step %.100s, try %u: %s -> again",
                      fmcall_kind_word(one->kind), one->step, one->tries + 1, words);
    one->tries++;
}

/* There is a tree, and libfabric would crash at its root, or not take it and not delete it either.
 * It goes, before another one is asked for; without hurry, as the next one may be of the same kind.
 */
static void made_unfit(struct core *core, struct reservation *r, struct relayed *one,
                       const struct fmcall_tree *tree)
{
    assert(one->kind == FMCALL_JOIN && !one->made);
    retry_request(core, r, one, core_retry_wait(one->tries),
                  "the root of the tree that it made is none of the NICs that it was to join");
    if (relay_find_tree(r->relay, tree->id)) /* it has not made this one now */
        return;
    add_tree(core, r, one, tree->id);
    one->unfit = true;
    struct relayed *leave = relayed_add(core, r, FMCALL_LEAVE, one->step, NULL);
    leave->tree = tree->id;
    leave->unused = true;
    leave->give_up_ms = INT64_MAX;
}

void relay_done(struct core *core, struct operation *op, const struct core_event *event)
{
    struct relayed *one = (struct relayed *)op;
    struct reservation *r = op->owner;
    const enum fmcall_outcome outcome = event->u.call.outcome;
    const char *words = event->u.call.words ? event->u.call.words : fmcall_outcome_word(outcome);
    assert(r->relay && op->call == 0);
    const bool unsure = fmcall_unsure(outcome);
    if (r->relay->settles_ms < core->now_ms)
        r->relay->settles_ms = core->now_ms;
    if (unsure)
        relay_unsettle(core, r);
    one->unsure |= unsure;
    if (unsure && one->kind == FMCALL_JOIN)
        relay_doubt(r); /* there may be a tree of which nothing is known */
    if (outcome == FM_OK && one->kind == FMCALL_JOIN) {
        if (relayed_names_nic(one->body, event->u.call.tree->root))
            tree_joined(core, r, one, event->u.call.tree);
        else
            made_unfit(core, r, one, event->u.call.tree);
    } else if (outcome == FM_OK || (outcome == FM_GONE && one->kind == FMCALL_LEAVE)) {
        tree_left(core, r, one);
    } else if (outcome == FM_DENIED || outcome == FM_REFUSED || outcome == FM_GONE) {
        refuse_request(core, r, one, event->u.call.status, words);
    } else {
        const bool unhurried = one->kind == FMCALL_LEAVE && !one->waiters;
        retry_request(core, r, one, unhurried ? core_retry_wait(one->tries) : RETRY_MS, words);
    }
    core_act_on_lives(core, r->cluster, r->job); /* a newer one may have waited for this call */
}
