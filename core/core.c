/* SPDX-License-Identifier: Apache-2.0 */
#include "core/core.h"

#include "base/memory.h"
#include "core/fabric/call_done.h"
#include "core/inventory/announce.h"
#include "core/inventory/concern.h"
#include "core/reconcile/reconcile.h"
#include "core/relay/relay.h"
#include "core/requests/requests.h"
#include "core/reservation/quarantine.h"
#include "core/reservation/sizing.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    DUE_PER_TICK = 1000, /* so that no step keeps the loop away for long */
};

struct core *core_create(const struct core_config *config)
{
    assert(config->calls_at_once > 0);
    assert(config->sync_lot > 0);
    struct core *core = memory_zeroed(sizeof *core);
    core->config = *config;
    core->facts.boot = core->boot;
    ledger_init(&core->ledger);
    vnipool_configure(&core->vnis, &config->vni_pool);
    return core;
}

static void free_reservation(struct reservation *r)
{
    assert(reservation_valid(r));
    if (r->op) {
        for (struct waiter *w = r->op->waiters, *next; w; w = next) {
            next = w->next;
            free(w);
        }
        free(r->op->words);
        free(r->op);
    }
    free(r->nodes);
    nodes_destroy(r->reported);
    cleaner_destroy(r->cleaner);
    relay_destroy(r->relay);
    secret_wipe(&r->token);
    secret_wipe(&r->key);
    free(r->reason);
    free(r);
}

void core_destroy(struct core *core)
{
    if (!core)
        return;
    for (size_t i = 0; i < core->ledger.row_count; i++) {
        if (core->ledger.rows[i].reservation)
            free_reservation(core->ledger.rows[i].reservation);
    }
    ledger_release(&core->ledger);
    agenda_release(&core->agenda);
    tombstones_release(&core->tombstones);
    tombstones_release(&core->unanswered);
    strays_release(&core->strays);
    joblist_release(core);
    alarm_release(core);
    core_release_shared(core);
    tokenset_release(&core->tokens);
    held_release(&core->vnis_held);
    held_release(&core->pkeys_held);
    eventlog_release(&core->events);
    nodenics_release(&core->nics);
    traffic_log_release(&core->traffic);
    concern_release(&core->concern);
    for (uint32_t i = 0; i < core->cluster_count; i++)
        free(core->clusters[i]);
    free(core->clusters);
    core_effects_clear(core);
    free(core->effects);
    free(core->discarded);
    free(core);
}

int core_load(struct core *core, const struct record *record, struct error *err)
{
    assert(core->now_ms == 0);
    if (record->kind == RECORD_GONE) /* no store has any, but a log that is replayed can */
        ledger_index(&core->ledger);
    int rc = core_apply(core, record, err);
    core_effects_clear(core);
    return rc;
}

/* A job has its name at the fabric manager for one of its lives only, and of two that believe to
 * have it the end of one would take the other's. */
int core_check_load(struct core *core, struct error *err)
{
    assert(core->now_ms == 0);
    struct ledger_walk all = {0};
    ledger_index(&core->ledger);
    for (const struct reservation *r; (r = ledger_walk(&core->ledger, &all));) {
        bool has_name = reservation_wants_hwcoll(r) &&
                        (r->hwcoll == HWCOLL_RESERVED || r->fm_side == FM_SIDE_THERE);
        for (const struct reservation *o = r->older; o; o = has_name ? o->older : NULL) {
            if (o->state == JOB_ACTIVE || (has_name && o->fm_side != FM_SIDE_NOTHING))
                return error_set(err, ERROR_CORRUPT,
                                 "reservations %llu and %llu cannot both be as they are: "
                                 "both are of job %s-%s",
                                 (unsigned long long)o->number, (unsigned long long)r->number,
                                 r->cluster, r->job);
        }
    }
    return 0;
}

static void update_hold_until(const struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    int64_t end = core_quarantine_end(core, r);
    if (r->state == JOB_RELEASING && r->vni_count > 0)
        r->hold_until_ms = end == INT64_MAX ? 0 : end;
}

/* What a crash left open, assuming the worst: every call that could have been under way was, and
 * may still be acted on. */
static void resume_after_load(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    assert(r->agenda_slot == 0);
    assert(!r->op || r->op->call == 0);
    int64_t settles = core->now_ms + core->config.call_timeout_ms;
    if (r->state == JOB_RELEASING && r->released_ms > core->now_ms)
        r->released_ms = core->now_ms; /* the clock was set back since */
    update_hold_until(core, r);
    r->repeated = !r->reported && !r->launched; /* else it is on disk */
    /* The fabric manager may have been called for it, even if nothing of it is left there: a last
     * RELEASE, given up and not yet acted on, would hit the name's next owner. */
    bool never_eligible = r->hwcoll == HWCOLL_OFF || r->hwcoll == HWCOLL_INELIGIBLE;
    if (r->fm_side != FM_SIDE_NOTHING || r->state == JOB_RELEASING || !never_eligible)
        (void)core_operation(core, r);

    if (r->cleaner)
        cleanup_resume(core, r);

    struct operation *op = r->op;
    if (!op)
        return;
    op->asked = r->hwcoll != HWCOLL_WANTED || r->fm_side != FM_SIDE_NOTHING;
    bool in_the_way = r->hwcoll == HWCOLL_WANTED && r->fm_side == FM_SIDE_THERE;
    if (r->fm_side == FM_SIDE_MAYBE || in_the_way) {
        core_note_unanswered(core, r);
        op->reserve_settles_ms = settles;
    }
    /* With the login a step may have been ended, whose late end would hit the name's next owner. */
    bool maybe_cleaned = r->hwcoll == HWCOLL_RESERVED && core->config.cleanup_login;
    if (!reservation_wants_hwcoll(r) || in_the_way || maybe_cleaned)
        op->release_settles_ms = settles;
    if (r->hwcoll == HWCOLL_WANTED)
        core_give_up_in_time(core, r);
}

static void begin_step(struct core *core, int64_t now_ms)
{
    core_effects_clear(core);
    core->step_seq = core->last_seq;
    if (now_ms > core->now_ms)
        core->now_ms = now_ms;
}

/* Events follow each other without a gap. Those of a ledger whose last ones are missing (rows were
 * deleted) cannot be followed by the next one, and are dropped: a client that replays them sees the
 * gap. */
static void drop_broken_off_events(struct core *core)
{
    assert(core->events.next <= core->last_seq + 1);
    if (eventlog_count(&core->events) == 0 || core->events.next > core->last_seq)
        return;
    core_trace(core, TRACE_WARNING,
               "events %llu-%llu are missing in the ledger -> the older ones are dropped",
               (unsigned long long)core->events.next, (unsigned long long)core->last_seq);
    core_save_record(core, (struct record){.kind = RECORD_PRUNE, .u.prune = core->events.next - 1});
}

/* A RESERVE of a former life was never answered: what may come of it, however late, is looked for,
 * also where no list is made otherwise (F21). */
static void list_for_unanswered(struct core *core)
{
    assert(core->link.unanswered_ms == 0);
    for (uint64_t seq = core_first_seq(core); seq <= core->last_seq; seq++) {
        const struct event_record *event = eventlog_at(&core->events, seq);
        if (!event || event->proof != PROOF_UNANSWERED)
            continue;
        link_list_unanswered(core);
        return;
    }
}

void core_start(struct core *core, int64_t now_ms)
{
    assert(core->link.state == LINK_DOWN);
    begin_step(core, now_ms);
    core->started_ms = core->now_ms;
    ledger_index(&core->ledger);
    quarantine_compare_clock(core);
    suspect_resume(core);
    drop_broken_off_events(core);
    list_for_unanswered(core);
    core->link.since_ms = now_ms;
    strcpy(core->link.error, core->config.fm_present ? "" : "no fabric manager is configured");
    link_start(core);
    jobpoll_start(core);
    struct ledger_walk all = {0}, again = {0};
    for (struct reservation *r; (r = ledger_walk(&core->ledger, &all));)
        resume_after_load(core, r);
    conflict_resume(core);
    /* Acting may end one, and another life of its job. */
    for (struct reservation *r; (r = ledger_walk(&core->ledger, &again));) {
        if (r->hwcoll == HWCOLL_WANTED && !core->config.fm_present)
            core_give_up(core, r, HWCOLL_UNAVAILABLE, core->link.error);
        else if (r->op) /* as all have that are over */
            core_act(core, r);
    }
}

/* What is held now goes by the new times. At most as many as there are VNIs and partition keys. */
static void reconsider_quarantines(struct core *core)
{
    struct ledger_walk walk = {0};
    for (struct reservation *r; (r = ledger_walk(&core->ledger, &walk));) {
        if (r->state != JOB_RELEASING || (r->vni_count == 0 && r->pkey == 0))
            continue;
        assert(!r->overdue || core->overdue >= r->vni_count);
        if (r->overdue)
            core->overdue -= r->vni_count;
        r->overdue = false;
        update_hold_until(core, r);
        core_act(core, r);
    }
}

static void apply_configuration(struct core *core, const struct core_event *event)
{
    const struct core_config *config = event->u.config;
    assert(config->calls_at_once > 0);
    assert(config->cluster_count <= CLUSTERS_MAX);
    bool had_fm = core->config.fm_present;
    bool moved = link_configure(core, config);
    bool hold = core->config.vni_hold_ms != config->vni_hold_ms ||
                core->config.omnipath.pkey_hold_ms != config->omnipath.pkey_hold_ms;
    core->foreign.other |= strcmp(core->config.vni_partition, config->vni_partition) != 0;
    bool relist = core->config.relist_ms != config->relist_ms;
    core->config = *config;
    if (relist && core->link.state == LINK_UP)
        link_schedule_list(core);
    if (hold)
        reconsider_quarantines(core);
    vnipool_configure(&core->vnis, &config->vni_pool);
    core->addresses_freed = true;
    joblist_configure(core);
    jobpoll_configure(core);
    if (!had_fm && config->fm_present)
        link_start(core);
    else if (had_fm && !config->fm_present)
        link_lost(core, 0, "the fabric manager was taken out of the configuration");
    else if (moved)
        link_move(core);
    link_retry_now(core);                           /* with the login that is in force now, */
    link_list_within(core, config->stray_grace_ms); /* … while up, too */
}

static void act_on_deadlines(struct core *core)
{
    link_tick(core);
    jobpoll_tick(core);
    suspect_watch(core);
    for (int i = 0; i < DUE_PER_TICK; i++) {
        const struct agenda_entry *first = agenda_first(&core->agenda);
        if (!first || first->due_ms > core->now_ms)
            return;
        core_act(core, first->reservation);
    }
}

static void tick_long_work(struct core *core, const struct core_event *event)
{
    (void)event;
    assert(event->kind == CORE_TICK);
    joblist_tick(core);
    concern_tick(core);
}

static void note_since(int64_t *since_ms, bool is_so, int64_t now_ms)
{
    assert(*since_ms <= now_ms);
    *since_ms = !is_so ? 0 : *since_ms != 0 ? *since_ms : now_ms;
}

/* For core_status: since when there is nothing left to give. */
static void note_shortages(struct core *core)
{
    const struct core_config *config = &core->config;
    uint32_t each;
    (void)sizing_addresses(config, &each, NULL);
    note_since(&core->vnis_none_ms, core->vnis.pool.count > 0 && core->vnis.free.count == 0,
               core->now_ms);
    note_since(&core->addresses_full_ms,
               config->total_addresses > 0 &&
                   core->all_use.addresses + (each > 0 ? each : 1) > config->total_addresses,
               core->now_ms);
}

void core_step(struct core *core, const struct core_event *event)
{
    static void (*const decide[])(struct core *, const struct core_event *) = {
        [CORE_TICK] = tick_long_work,
        [CORE_RESERVE] = core_reserve,
        [CORE_RELEASE] = core_release,
        [CORE_LAUNCH] = core_launch,
        [CORE_SYNC] = core_sync,
        [CORE_LOGIN_DONE] = link_login_done,
        [CORE_LIST_NAMES] = listing_names,
        [CORE_LIST_DONE] = listing_done,
        [CORE_CALL_DONE] = core_call_done,
        [CORE_JOBPOLL_DONE] = jobpoll_done,
        [CORE_NODE_REPORT] = core_node_report,
        [CORE_NODE_SUM] = core_node_sum,
        [CORE_FENCE] = core_fence,
        [CORE_NODE_BOOT] = core_node_boot,
        [CORE_ACCEPT_LOSS] = core_accept_loss,
        [CORE_CLAIM] = core_claim,
        [CORE_CLEANUP] = core_cleanup,
        [CORE_STEPS] = core_steps,
        [CORE_JOIN] = relay_join,
        [CORE_LEAVE] = relay_leave,
        [CORE_ALIVE] = core_alive,
        [CORE_NODE_NICS] = core_nics_report,
        [CORE_FORGET_NICS] = core_nics_forget,
        [CORE_PARTITIONS] = core_partitions,
        [CORE_SHARE] = core_share,
        [CORE_UNSHARE] = core_unshare,
        [CORE_FABRIC] = core_fabric,
        [CORE_CONFIGURE] = apply_configuration,
        [CORE_PROBE] = link_probe,
    };
    assert(event->kind < sizeof decide / sizeof *decide);
    begin_step(core, event->now_ms);
    decide[event->kind](core, event);
    core_act_on_freed_addresses(core);
    act_on_deadlines(core); /* in every step: a busy loop's timers come late */
    shared_settle(core);
    core_begin_calls(core);
    note_shortages(core);
}

const struct effect *core_effects(const struct core *core, size_t *count)
{
    assert(count);
    *count = core->effect_count;
    return core->effects;
}

int64_t core_next_deadline(const struct core *core)
{
    const struct agenda_entry *first = agenda_first(&core->agenda);
    const int64_t deadlines[] = {link_deadline(core),    jobpoll_deadline(core),
                                 joblist_deadline(core), suspect_deadline(core),
                                 shared_deadline(core),  concern_deadline(core)};
    int64_t when = first ? first->due_ms : INT64_MAX;
    for (size_t i = 0; i < sizeof deadlines / sizeof *deadlines; i++)
        when = deadlines[i] < when ? deadlines[i] : when;
    return when;
}
