/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reconcile/reconcile.h"

#include "core/fabric/call_done.h"
#include "core/requests/requests.h"

#include <assert.h>

/* What should be at the fabric manager and seems not to be (F22, B11). `lost` is fatal for a job,
 * and a single answer can be wrong: a gateway, a replica that lags, shifted pages. So a reservation
 * is lost when the fabric manager said so twice, a grace period apart, and a whole list that began
 * after the first time did not name it. When much is missing at once, nothing is lost until the
 * fabric manager agrees again or an administrator says so. */

static bool is_missing(const struct operation *op)
{
    assert(op->owner);
    return op->evidence.gone_ms != 0 || op->evidence.absent_ms != 0;
}

static void set_missing(struct core *core, struct operation *op, int64_t gone_ms, int64_t absent_ms)
{
    assert(op->owner);
    assert(core->gone <= core->missing);
    bool was = is_missing(op), counts = op->owner->origin != ORIGIN_FOUND;
    bool was_gone = op->evidence.gone_ms != 0;
    op->evidence.gone_ms = gone_ms;
    op->evidence.absent_ms = absent_ms;
    if (!counts)
        return;
    assert(core->gone >= was_gone && core->missing >= was);
    core->gone = core->gone - was_gone + (gone_ms != 0);
    core->missing = core->missing - was + is_missing(op);
}

void missing_forget(struct core *core, struct operation *op)
{
    assert(op->owner && op->owner->op == op);
    set_missing(core, op, 0, 0);
    op->evidence.other_token = op->evidence.loss_accepted = false;
}

/* So many should be there. */
static uint64_t expected_reservations(const struct core *core)
{
    assert(core->all_use.jobs_reserved >= core->all_use.jobs_found);
    return core->all_use.jobs_reserved - core->all_use.jobs_found;
}

/* Whether so many of them are more than go missing one by one. */
static bool is_mass_loss(const struct core *core, uint64_t count)
{
    assert(core->config.mass_loss_min > 0);
    return count >= core->config.mass_loss_min &&
           count * 100 > core->config.mass_loss_percent * expected_reservations(core);
}

void missing_watch(struct core *core)
{
    assert(core->gone <= core->missing);
    if (is_mass_loss(core, core->gone))
        core->mass_loss_ms = core->now_ms;
    /* Lists and answers that contradict each other do not switch it off and on. */
    else if (core->now_ms - core->mass_loss_ms > 2 * core->config.stray_grace_ms)
        alarm_clear(core, ALARM_MASS_LOSS, NULL);
    if (core->mass_loss_ms == core->now_ms)
        alarm_raise(core, ALARM_MASS_LOSS, NULL,
                    "the fabric manager says that %llu of %llu reservations, so far, are gone or "
                    "another's; no job is notified, and nothing unknown is deleted there",
                    (unsigned long long)core->gone,
                    (unsigned long long)expected_reservations(core));
}

/* F22: once only, the state says so. */
static void declare_lost(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    assert(r->hwcoll == HWCOLL_RESERVED && r->origin != ORIGIN_FOUND);
    assert(r->op->evidence.gone_ms != 0);
    bool other = r->op->evidence.other_token, open = r->op->unsure || r->op->retried;
    const char *reason = other ? "the fabric manager has another reservation under its name"
                               : "the fabric manager no longer has its reservation";
    core_trace_event(core, r, EVENT_LOST, TRACE_WARNING,
                     "%s, asked twice -> lost, its job is notified", reason);
    missing_forget(core, r->op);
    struct reservation_record rec = reservation_record(r);
    const uint64_t proof = token_proof(r->token);
    rec.hwcoll = HWCOLL_LOST;
    /* Another's is not ours to delete. But an earlier try of ours may yet be acted on. */
    rec.fm_side = open ? FM_SIDE_MAYBE : FM_SIDE_NOTHING;
    rec.token = (struct secret){0};
    rec.reason = reason;
    (void)core_save(core, &rec);
    core_publish(core, EVENT_LOST, r, reason, proof);
    if (other && !open)
        conflict_raise(core, r->cluster, r->job, "it has another session token than ours");
    core_act(core, r);
}

/* What was found under a name of ours is there no more: no loss of ours, and no end. */
static void forget_found(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    assert(r->origin == ORIGIN_FOUND);
    uint64_t number = r->number;
    core_trace_of(core, r, TRACE_NOTICE,
                  "found at the fabric manager, and no longer there -> forgotten");
    if (r->state == JOB_ACTIVE)
        core_begin_release(core, r, "no longer at the fabric manager");
    r = ledger_by_number(&core->ledger, number);
    assert(r); /* its name at the fabric manager keeps it */
    struct reservation_record rec = reservation_record(r);
    rec.fm_side = FM_SIDE_NOTHING;
    (void)core_save(core, &rec);
    core_act_on_lives(core, r->cluster, r->job);
}

/* Two answers a grace period apart, and a list that began after the first and did not name it. */
static bool is_confirmed(const struct core *core, const struct evidence *e)
{
    assert(e->gone_ms != 0 || !e->other_token);
    return e->gone_ms != 0 && core->now_ms - e->gone_ms >= core->config.stray_grace_ms &&
           (e->other_token || e->absent_ms >= e->gone_ms);
}

void missing_said_gone(struct core *core, struct reservation *r, bool other_token)
{
    assert(reservation_valid(r));
    struct operation *op = r->op;
    struct evidence *e = &op->evidence;
    assert(r->state == JOB_ACTIVE && r->hwcoll == HWCOLL_RESERVED);
    op->doubted = false; /* asked again after the next list */
    if (e->gone_ms == 0 || e->other_token != other_token) {
        set_missing(core, op, core->now_ms, e->absent_ms);
        e->other_token = other_token;
        core_trace_of(core, r, alarm_on(core, ALARM_MASS_LOSS, NULL) ? TRACE_DEBUG : TRACE_NOTICE,
                      "the fabric manager %s -> asked again in %lld s",
                      other_token ? "has another reservation under its name"
                                  : "says that it has no such reservation",
                      (long long)(core->config.stray_grace_ms + 999) / 1000);
    }
    int64_t left_ms = e->gone_ms + core->config.stray_grace_ms - core->now_ms;
    if (left_ms > 0) /* so late, and no grace period later */
        link_list_within(core, left_ms);
    missing_watch(core);
    if (!is_confirmed(core, e) || (!e->loss_accepted && is_mass_loss(core, core->missing)))
        core_act(core, r);
    else if (r->origin == ORIGIN_FOUND)
        forget_found(core, r);
    else
        declare_lost(core, r);
}

/* Its end was told here, and it is not deleted: when two lists, a grace period apart, do not name
 * it, its owner has deleted it. */
static void compare_ended(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    assert(r->origin == ORIGIN_FOUND && r->state == JOB_RELEASING);
    struct operation *op = r->op;
    struct evidence *e = &op->evidence;
    if (e->listed == core->link.list) {
        e->absent_ms = 0;
        return;
    }
    if (e->absent_ms == 0)
        e->absent_ms = core->link.list_began_ms;
    if (core->link.list_began_ms - e->absent_ms >= core->config.stray_grace_ms)
        forget_found(core, r);
}

static void compare_reserved(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    assert(r->state == JOB_ACTIVE && r->hwcoll == HWCOLL_RESERVED);
    struct operation *op = r->op;
    struct evidence *e = &op->evidence;
    if (e->listed == core->link.list) {
        if (e->gone_ms != 0 && !e->other_token)
            core_trace_of(core, r,
                          alarm_on(core, ALARM_MASS_LOSS, NULL) ? TRACE_DEBUG : TRACE_NOTICE,
                          "the fabric manager lists it, and said that there is none -> kept");
        set_missing(core, op, e->other_token ? e->gone_ms : 0, 0);
    } else if (core->link.list >= e->listed_from) {
        set_missing(core, op, e->gone_ms, core->link.list_began_ms);
    }
}

/* All that came of a RELEASE was an answer of something else, perhaps a gateway. Lists that began
 * when nothing sent before could still be acted on tell as well: two, a grace period apart, as
 * pages of one may have shifted. */
static void compare_unrouted(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    struct operation *op = r->op;
    struct evidence *e = &op->evidence;
    int64_t began_ms = core->link.list_began_ms;
    if (reservation_wants_hwcoll(r) || r->fm_side == FM_SIDE_NOTHING || op->call != 0 ||
        e->not_routed_ms == 0 || began_ms <= e->not_routed_ms || began_ms < op->reserve_settles_ms)
        return;
    if (e->unlisted_ms == 0)
        e->unlisted_ms = began_ms;
    if (began_ms - e->unlisted_ms < core->config.stray_grace_ms)
        return;
    core_trace_of(core, r, TRACE_NOTICE,
                  "its release was answered by something in front of the fabric manager, and two "
                  "lists of the fabric manager do not name it -> released");
    op->sent_ms = began_ms;
    core_released_at_fm(core, r);
}

void missing_compare(struct core *core)
{
    assert(core->link.list != 0);
    struct operation *at = core->operations;
    for (struct reservation *r; (r = operations_next(&at));) {
        bool listed = r->op->evidence.listed == core->link.list;
        if (listed)
            r->op->evidence.unlisted_ms = 0;
        if (r->origin == ORIGIN_FOUND && r->state == JOB_RELEASING && r->fm_side != FM_SIDE_NOTHING)
            compare_ended(core, r);
        else if (r->state == JOB_ACTIVE && r->hwcoll == HWCOLL_RESERVED)
            compare_reserved(core, r);
        else if (!listed)
            compare_unrouted(core, r);
    }
    missing_watch(core);
}

bool missing_wants_list(const struct core *core)
{
    assert(core->gone <= core->missing);
    if (core->missing > 0)
        return true;
    for (const struct operation *op = core->operations; op; op = op->next)
        if (op->evidence.unlisted_ms != 0)
            return true;
    return false;
}

void core_accept_loss(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_ACCEPT_LOSS);
    assert(core->gone <= core->missing);
    uint32_t count = 0;
    bool on = alarm_on(core, ALARM_MASS_LOSS, NULL);
    struct operation *at = on ? core->operations : NULL;
    for (struct reservation *r; (r = operations_next(&at));) {
        if (r->op->evidence.gone_ms == 0 || r->origin == ORIGIN_FOUND)
            continue;
        assert(r->state == JOB_ACTIVE && r->hwcoll == HWCOLL_RESERVED);
        r->op->evidence.loss_accepted = true;
        count++;
        /* What was said before the link was lost, or before a list, is old: asked once more. */
        bool fresh = core->link.state == LINK_UP && !r->op->doubted;
        if (fresh && is_confirmed(core, &r->op->evidence))
            declare_lost(core, r);
    }
    core->mass_loss_ms = 0;
    core_trace(core, TRACE_NOTICE,
               "an administrator accepts the loss of %u reservations -> their jobs are notified%s",
               count, on ? " as soon as each was asked for twice" : "; there was no such alarm");
    missing_watch(core);
    core_answer(core, event->ticket, ANSWER_LOSS_ACCEPTED, NULL, NULL)->count = count;
}
