/* SPDX-License-Identifier: Apache-2.0 */
#include "core/act.h"

#include "base/memory.h"
#include "core/fabric/link.h"
#include "core/relay/relay.h"
#include "core/requests/requests.h"
#include "core/reservation/sizing.h"
#include "core/reservation/quarantine.h"

#include <assert.h>
#include <stdlib.h>

/* × tombstone_ms: for how long a second release is told "gone". */
enum { GONE_REMEMBERED_FACTOR = 20, UNANSWERED_REMEMBERED_MS = 3600 * 1000 };

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A time that is over is none to wait for. */
static int64_t earlier_to_come(const struct core *core, int64_t when, int64_t other)
{
    return other > core->now_ms ? earlier(when, other) : when;
}

/* An earlier life of the job may still have, or ask for, something under the name. */
static bool older_life_remains(const struct reservation *r)
{
    assert(reservation_valid(r));
    assert(!r->older || r->older->number < r->number);
    for (const struct reservation *o = r->older; o; o = o->older) {
        if (o->fm_side != FM_SIDE_NOTHING || (o->op && o->op->call != 0))
            return true;
    }
    return false;
}

/* Until when the name must rest before a RESERVE may be sent under it: a RELEASE of an older life
 * that was given up, or the end of one of its steps, may still be acted on and would hit the new
 * reservation. INT64_MAX: not known yet. */
static int64_t name_rests_until(const struct reservation *r)
{
    assert(reservation_valid(r));
    assert(r->hwcoll == HWCOLL_WANTED);
    int64_t until = r->op ? r->op->release_settles_ms : 0;
    if (older_life_remains(r))
        return INT64_MAX;
    for (const struct reservation *o = r->older; o; o = o->older) {
        if (cleanup_may_hit_name(o))
            return INT64_MAX;
        if (o->op && o->op->release_settles_ms > until)
            until = o->op->release_settles_ms;
    }
    return until;
}

void core_note_unanswered(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r) && r->op);
    r->op->unsure = true;
    tombstones_put(&core->unanswered, r->cluster, r->job, TOMBSTONE_UNANSWERED,
                   core->now_ms + UNANSWERED_REMEMBERED_MS);
    link_list_unanswered(core);
}

bool core_unanswered(const struct core *core, const char *cluster, const char *job)
{
    return tombstones_get(&core->unanswered, cluster, job, core->now_ms) != TOMBSTONE_NONE;
}

/* The one place that says which call a reservation wants now, whatever happened before. */
static enum fmcall_kind wanted_call(const struct core *core, const struct reservation *r)
{
    assert(reservation_valid(r));
    assert(!r->op || operation_valid(r->op));
    if (!r->op || r->op->call != 0 || core->link.state != LINK_UP)
        return FMCALL_NONE;
    if (!reservation_wants_hwcoll(r)) {
        if (!reservation_leaves(r) || older_life_remains(r))
            return FMCALL_NONE;
        if (r->origin == ORIGIN_FOUND) /* perhaps a leftover of ours */
            return r->op->doubted ? FMCALL_CHECK : FMCALL_NONE;
        return FMCALL_RELEASE;
    }
    if (r->hwcoll == HWCOLL_RESERVED)
        return r->op->doubted ? FMCALL_CHECK : FMCALL_NONE;
    if (r->fm_side == FM_SIDE_NOTHING) /* there is no room for it yet */
        return FMCALL_NONE;
    if (r->fm_side == FM_SIDE_THERE) /* wanted, but something else sits under the name */
        return FMCALL_RELEASE;
    return name_rests_until(r) <= core->now_ms ? FMCALL_RESERVE : FMCALL_NONE;
}

static void queue_wanted_call(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    struct operation *op = r->op;
    if (!op)
        return;
    enum fmcall_kind kind = op->retry_ms <= core->now_ms ? wanted_call(core, r) : FMCALL_NONE;
    enum lane lane = r->hwcoll == HWCOLL_WANTED ? LANE_RESERVE
                     : kind == FMCALL_CHECK     ? LANE_CHECK
                                                : LANE_RELEASE;
    if (op->queued == kind && (kind == FMCALL_NONE || op->lane == (int)lane))
        return;
    callqueue_remove(&core->calls, op);
    if (kind != FMCALL_NONE)
        callqueue_push(&core->calls, op, lane, kind);
}

/* Reserved at the second try. The first, acted on late, is refused while ours is there; should ours
 * have vanished in between, what is there has another token. Not while a CHECK is under way, which
 * may have been answered before the first try was acted on (docs/model found it). */
static bool must_check_again(const struct reservation *r)
{
    assert(reservation_valid(r));
    return r->hwcoll == HWCOLL_RESERVED && r->state == JOB_ACTIVE && r->op && r->op->unsure &&
           r->op->call == 0;
}

static int64_t next_deadline(const struct core *core, const struct reservation *r)
{
    assert(reservation_valid(r));
    assert(!r->op || operation_valid(r->op));
    int64_t when = earlier(cleanup_deadline(core, r), relay_deadline(core, r));
    const struct operation *op = r->op;
    when = earlier(when, core_pkey_end(core, r));
    if (r->state == JOB_RELEASING && r->vni_count > 0 && !r->overdue)
        when = earlier(when, core_quarantine_end(core, r));
    if (!op)
        return when;
    if (r->hwcoll == HWCOLL_WANTED) {
        when = earlier(when, op->give_up_ms);
        when = earlier_to_come(core, when, op->retry_ms);
        when = earlier_to_come(core, when, name_rests_until(r));
    } else if (must_check_again(r)) {
        when = earlier(when, op->reserve_settles_ms);
    } else if (r->fm_side != FM_SIDE_NOTHING) {
        if (core->link.state == LINK_UP)
            when = earlier_to_come(core, when, op->retry_ms);
    } else if (r->state == JOB_RELEASING && r->vni_count == 0) {
        when = earlier_to_come(core, when, op->release_settles_ms);
    }
    return when;
}

static bool everything_confirmed(const struct core *core, const struct reservation *r)
{
    assert(reservation_valid(r));
    return r->state == JOB_RELEASING && r->vni_count == 0 && r->fm_side == FM_SIDE_NOTHING &&
           r->pkey == 0 && (!r->cleaner || r->cleaner->op.call == 0) && !relay_in_flight(r) &&
           (!r->op || (r->op->call == 0 && r->op->release_settles_ms <= core->now_ms &&
                       (r->op->list == 0 || r->op->list != core->link.list)));
}

void core_act_on_lives(struct core *core, const char *cluster, const char *job)
{
    assert(cluster && job);
    uint64_t below = UINT64_MAX;
    for (;;) {
        /* Looked up anew each time: acting on one may end it, or another. */
        struct reservation *r = ledger_newest(&core->ledger, cluster, job);
        while (r && r->number >= below)
            r = r->older;
        if (!r)
            return;
        below = r->number;
        core_act(core, r);
    }
}

/* The reservation ends; a newer life of the job may have waited for it. */
static void end_reservation(struct core *core, struct reservation *r)
{
    assert(everything_confirmed(core, r));
    assert(!r->op || !r->op->waiters);
    tombstones_put(&core->tombstones, r->cluster, r->job, TOMBSTONE_GONE,
                   core->now_ms + GONE_REMEMBERED_FACTOR * core->config.tombstone_ms);
    core_keep_traffic(core, r);
    core_save_record(core, (struct record){.kind = RECORD_GONE, .u.gone = r->number});
    core_act_on_lives(core, r->cluster, r->job);
}

/* The time is up, and not every node has reported that its services are gone (F3). Sites whose
 * nodes never report see this at each job's end. */
static void log_unconfirmed(struct core *core, const struct reservation *r)
{
    assert(r->state == JOB_RELEASING && r->vni_count > 0);
    assert(!quarantine_all_clean(r));
    struct core_waiting waiting;
    core_waiting(r, &waiting);
    if (waiting.count == 0)
        return;
    core->unconfirmed += r->vni_count;
    core_trace_of(core, r, !r->reported ? TRACE_INFO : TRACE_WARNING,
                  "%u of its %u nodes have not said that its CXI services are gone, and [vni] "
                  "hold is over -> its VNIs may be given out again",
                  waiting.count, r->node_count);
}

static void note_overdue(struct core *core, struct reservation *r)
{
    assert(r->state == JOB_RELEASING && r->vni_count > 0);
    assert(quarantine_has_services(r));
    struct core_waiting waiting;
    if (r->overdue)
        return;
    r->overdue = true;
    core->overdue += r->vni_count;
    core_waiting(r, &waiting);
    core_trace_of(core, r, TRACE_WARNING,
                  "[vni] hold is over, and %s%s has CXI services of it -> its VNIs stay "
                  "quarantined until the node reports that they are destroyed, that it has "
                  "booted, or is fenced (mcastctl fence)",
                  waiting.names[0], waiting.named > 1 ? ", …" : "");
}

/* Nothing else in the ledger shows after a restart where the round of VNIs went on (F3). */
static void save_vni_round(struct core *core, const struct reservation *r)
{
    assert(reservation_valid(r));
    assert(r->vni_count > 0);
    if (r->number == core->facts.round_number)
        core_save_facts(core, &core->facts);
}

static void free_due_vnis(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    bool clean = quarantine_all_clean(r);
    if (r->state != JOB_RELEASING || r->vni_count == 0 ||
        (core_quarantine_end(core, r) > core->now_ms && !clean))
        return;
    if (!clean && quarantine_has_services(r)) {
        note_overdue(core, r);
        return;
    }
    if (!clean)
        log_unconfirmed(core, r);
    save_vni_round(core, r);
    struct reservation_record rec = reservation_record(r);
    rec.vni_count = rec.shared_count = 0;
    if (r->fm_side == FM_SIDE_NOTHING) {
        /* Nothing else keeps it: it will be gone in this very step, one record is enough. */
        struct record record = {.kind = RECORD_RESERVATION, .u.reservation = rec};
        if (core_apply(core, &record, NULL) != 0)
            abort();
        if (everything_confirmed(core, r))
            return;
    }
    (void)core_save(core, &rec);
}

static void free_due_pkey(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    if (core_pkey_end(core, r) > core->now_ms)
        return;
    struct reservation_record rec = reservation_record(r);
    rec.pkey = 0;
    (void)core_save(core, &rec);
}

/* Others have given addresses back: the intent can be saved. */
static void take_addresses(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    if (r->hwcoll != HWCOLL_WANTED || r->fm_side != FM_SIDE_NOTHING ||
        core_budget(core, r->cluster, r->addresses) != BUDGET_NOW)
        return;
    struct reservation_record rec = reservation_record(r);
    rec.fm_side = FM_SIDE_MAYBE;
    (void)core_save(core, &rec);
}

void core_act_on_freed_addresses(struct core *core)
{
    assert(core->addresses_awaited == 0 || core->operations);
    if (!core->addresses_freed)
        return;
    core->addresses_freed = false;
    struct operation *at = core->operations;
    for (struct reservation *r; core->addresses_awaited > 0 && (r = operations_next(&at));) {
        if (r->hwcoll == HWCOLL_WANTED && r->fm_side == FM_SIDE_NOTHING)
            core_act(core, r);
    }
}

void core_act(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    assert(r->agenda_slot <= core->agenda.count);
    assert(!r->op || operation_valid(r->op));
    if (r->hwcoll == HWCOLL_WANTED && r->op->give_up_ms <= core->now_ms &&
        !core_put_off_giving_up(core, r)) {
        if (r->op->asked)
            link_given_up(core, r->op->asked_ms);
        core_give_up(core, r, HWCOLL_TIMEOUT, NULL);
        return; /* it acts again */
    }
    take_addresses(core, r);
    if (must_check_again(r) && r->op->reserve_settles_ms <= core->now_ms) {
        r->op->unsure = false;
        r->op->doubted = r->op->retried = true;
    }
    free_due_vnis(core, r);
    free_due_pkey(core, r);
    relay_act(core, r); /* who waits for a tree is answered before the end */
    if (everything_confirmed(core, r)) {
        end_reservation(core, r);
        return;
    }
    cleanup_act(core, r);
    queue_wanted_call(core, r);
    agenda_set(&core->agenda, r, next_deadline(core, r));
}

void core_begin_calls(struct core *core)
{
    struct operation *op;
    if (core->link.state != LINK_UP)
        return;
    while ((op = callqueue_begin(&core->calls, core->config.calls_at_once))) {
        struct reservation *r = op->owner;
        assert(r && op->call != 0);
        op->sent_ms = core->now_ms;
        op->asked |= op->in_flight == FMCALL_RESERVE;
        char *name = memory_zeroed(FM_NAME_MAX + 1);
        fm_name_format(name, r->cluster, r->job);
        core_discard(core, name);
        struct effect *effect = core_effect(core, EFFECT_CALL);
        effect->u.call.id = op->call;
        effect->u.call.kind = op->in_flight;
        effect->u.call.about.name = name;
        effect->u.call.about.addresses = r->addresses;
        if (fmcall_is_relayed(op->in_flight))
            relay_begin(core, op, effect);
        else if (r->cleaner && op == &r->cleaner->op)
            cleanup_begin(core, r, effect);
        else
            core_trace_of(core, r, TRACE_DEBUG, "%s -> %s",
                          reservation_wants_hwcoll(r) ? "wanted" : "not wanted",
                          fmcall_kind_word(op->in_flight));
        agenda_set(&core->agenda, r, next_deadline(core, r));
    }
}

const char *core_warning(struct core *core, const struct reservation *r)
{
    assert(reservation_valid(r));
    if (r->state != JOB_ACTIVE || r->vni_count == r->vni_asked)
        return NULL;
    return core_text(core, "failed to reserve %u VNI%s: the job has none", r->vni_asked,
                     r->vni_asked == 1 ? "" : "s");
}

static void answer_waiters(struct core *core, struct reservation *r)
{
    assert(r->op);
    assert(r->hwcoll != HWCOLL_WANTED);
    if (!r->op->waiters)
        return;
    if (r->wish == WISH_REQUIRED && r->hwcoll != HWCOLL_RESERVED)
        core_answer_waiters(core, &r->op->waiters, ANSWER_NO_HWCOLL, NULL,
                            core_text(core,
                                      "hardware collectives are required but not available: %s",
                                      r->reason ? r->reason : "unknown"));
    else
        core_answer_waiters(core, &r->op->waiters, ANSWER_CREATED, r, core_warning(core, r));
}

enum event_kind core_outcome_event(enum hwcoll_state state)
{
    assert(state != HWCOLL_WANTED && state != HWCOLL_LOST);
    return state == HWCOLL_DENIED        ? EVENT_DENIED
           : state == HWCOLL_TIMEOUT     ? EVENT_TIMEOUT
           : state == HWCOLL_UNAVAILABLE ? EVENT_UNAVAILABLE
                                         : EVENT_RESERVED;
}

enum fm_side core_side_unwanted(const struct reservation *r)
{
    assert(reservation_valid(r));
    bool unsure = r->op && r->op->unsure;
    return unsure && r->fm_side == FM_SIDE_THERE ? FM_SIDE_MAYBE : (enum fm_side)r->fm_side;
}

/* No answer has named its VNIs, so nothing can use them. */
static void end_refused(struct core *core, struct reservation *r)
{
    assert(r->wish == WISH_REQUIRED);
    assert(r->hwcoll != HWCOLL_RESERVED);
    uint64_t number = r->number;
    core_begin_release(core, r, "its reserve failed");
    r = ledger_by_number(&core->ledger, number);
    if (!r || r->vni_count == 0)
        return;
    save_vni_round(core, r);
    struct reservation_record rec = reservation_record(r);
    rec.vni_count = rec.shared_count = 0;
    (void)core_save(core, &rec);
    core_act(core, r);
}

void core_finish_reserve(struct core *core, struct reservation *r, enum hwcoll_state hwcoll,
                         enum fm_side side, struct secret token, const char *reason)
{
    assert(r->hwcoll == HWCOLL_WANTED && r->op);
    assert(hwcoll != HWCOLL_WANTED);
    assert(hwcoll != HWCOLL_RESERVED || side != FM_SIDE_NOTHING);
    if (hwcoll != HWCOLL_RESERVED)
        core_trace_event(core, r, core_outcome_event(hwcoll), TRACE_NOTICE,
                         "%s -> the job %s hardware collectives%s", reason,
                         r->wish == WISH_REQUIRED ? "is refused, it required" : "runs without",
                         side == FM_SIDE_NOTHING ? "" : ", a late success will be released");
    struct reservation_record rec = reservation_record(r);
    rec.hwcoll = (uint8_t)hwcoll;
    rec.fm_side = (uint8_t)side;
    rec.token = token;
    rec.reason = reason;
    (void)core_save(core, &rec);
    r->op->retry_ms = 0;
    r->op->tries = 0;
    core_publish(core, core_outcome_event(hwcoll), r, reason,
                 core_unanswered(core, r->cluster, r->job) ? PROOF_UNANSWERED : 0);
    answer_waiters(core, r);
    if (r->wish == WISH_REQUIRED && hwcoll != HWCOLL_RESERVED)
        end_refused(core, r);
    else
        core_act(core, r);
}

static const char *why_given_up(struct core *core, const struct reservation *r, enum fm_side side,
                                bool no_room)
{
    assert(r->op);
    int64_t until_ms = r->op->calls_needed > 0 ? core->now_ms : r->op->give_up_ms;
    long long waited = (long long)(until_ms - r->op->asked_ms);
    if (!no_room && r->op->words)
        return core_text(core, "nothing from the fabric manager within %lld ms; its last words: %s",
                         waited, r->op->words);
    if (side != FM_SIDE_NOTHING)
        return core_text(core, "no answer of the fabric manager within %lld ms", waited);
    if (core->link.state != LINK_UP)
        return "the link to the fabric manager is not up";
    if (no_room)
        return core_budget_words(core, r->cluster, r->addresses);
    return core_text(core, "the fabric manager was busy with other calls for %lld ms", waited);
}

void core_give_up(struct core *core, struct reservation *r, enum hwcoll_state hwcoll,
                  const char *reason)
{
    assert(r->hwcoll == HWCOLL_WANTED && r->op);
    assert(hwcoll != HWCOLL_RESERVED);
    /* What was never asked for cannot be there; everything else may turn up late (F21). */
    bool asked = r->op->asked;
    enum fm_side side = asked ? core_side_unwanted(r) : FM_SIDE_NOTHING;
    /* What sat under its name may just have gone: there is room then, only no time. */
    bool no_room = r->fm_side == FM_SIDE_NOTHING && core->link.state == LINK_UP &&
                   core_budget(core, r->cluster, r->addresses) != BUDGET_NOW;
    if (no_room)
        hwcoll = HWCOLL_DENIED;
    else if (!asked)
        hwcoll = HWCOLL_UNAVAILABLE;
    if (!reason)
        reason = why_given_up(core, r, side, no_room);
    core_finish_reserve(core, r, hwcoll, side, (struct secret){0}, reason);
}
