/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply.h"

#include "base/memory.h"
#include "base/steppath.h"
#include "core/reconcile/reconcile.h"
#include "core/relay/relay.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct cluster *core_cluster(struct core *core, const char *name)
{
    for (uint32_t i = 0; i < core->cluster_count; i++) {
        if (strcmp(core->clusters[i]->name, name) == 0)
            return core->clusters[i];
    }
    core->clusters =
        memory_resized(core->clusters, core->cluster_count + 1, sizeof *core->clusters);
    assert(strlen(name) <= CLUSTER_NAME_MAX);
    struct cluster *cluster = memory_zeroed(sizeof *cluster);
    strncpy(cluster->name, name, sizeof cluster->name - 1);
    core->clusters[core->cluster_count++] = cluster;
    return cluster;
}

const struct cluster_config *core_cluster_config(const struct core *core, const char *name)
{
    assert(core->config.cluster_count <= CLUSTERS_MAX);
    for (uint32_t i = 0; i < core->config.cluster_count; i++) {
        if (strcmp(core->config.clusters[i].name, name) == 0)
            return &core->config.clusters[i];
    }
    return NULL;
}

bool core_has_plugin(const struct core *core, const char *cluster)
{
    assert(cluster);
    const struct cluster_config *config = core_cluster_config(core, cluster);
    return config && config->plugin;
}

struct operation *core_operation(struct core *core, struct reservation *r)
{
    if (!r->op) {
        struct operation *op = memory_zeroed(sizeof *op);
        op->owner = r;
        op->next = core->operations;
        if (op->next)
            op->next->prev = op;
        core->operations = op;
        r->op = op;
    }
    assert(r->op->owner == r);
    return r->op;
}

static void drop_operation(struct core *core, struct reservation *r)
{
    struct operation *op = r->op;
    if (!op)
        return;
    assert(op->owner == r && op->call == 0);
    assert(!op->waiters);
    callqueue_remove(&core->calls, op);
    missing_forget(core, op);
    if (op->prev)
        op->prev->next = op->next;
    else
        core->operations = op->next;
    if (op->next)
        op->next->prev = op->prev;
    r->op = NULL;
    core_discard(core, op->words);
    op->owner = NULL; /* a loop over operations in this step may still reach it */
    core_discard(core, op);
}

static void drop_cleaner(struct core *core, struct reservation *r)
{
    if (!r->cleaner)
        return;
    for (uint32_t i = 0; i < r->cleaner->count; i++)
        core->cleanups.pending -= !r->cleaner->cleanups[i]->query;
    assert(r->cleaner->op.call == 0);
    callqueue_remove(&core->calls, &r->cleaner->op);
    cleaner_destroy(r->cleaner);
    r->cleaner = NULL;
}

static void drop_relay(struct core *core, struct reservation *r)
{
    assert(!relay_in_flight(r));
    for (struct relayed *one = r->relay ? r->relay->requests : NULL; one; one = one->next) {
        callqueue_remove(&core->calls, &one->op);
        core->relay_bytes -= one->body ? strlen(one->body) : 0;
    }
    relay_destroy(r->relay);
    r->relay = NULL;
}

static void adjust_counter(uint64_t *counter, uint64_t amount, bool add)
{
    assert(add || *counter >= amount);
    *counter = add ? *counter + amount : *counter - amount;
}

static void adjust_use(struct core_use *u, const struct reservation *r, bool add)
{
    assert(u->leaving <= u->addresses);
    assert(u->jobs_found <= u->jobs_reserved && u->jobs_reserved <= u->jobs_active);
    bool active = r->state == JOB_ACTIVE, found = r->origin == ORIGIN_FOUND;
    bool reserved = active && r->hwcoll == HWCOLL_RESERVED, there = r->fm_side != FM_SIDE_NOTHING;
    /* What was found is not released before an administrator claims it: nothing waits for that. */
    bool leaves = reservation_leaves(r) && !found;
    adjust_counter(&u->addresses, there ? r->addresses : 0, add);
    adjust_counter(&u->leaving, leaves ? r->addresses : 0, add);
    adjust_counter(&u->releases, leaves, add);
    adjust_counter(&u->jobs_active, active, add);
    adjust_counter(&u->jobs_releasing, !active, add);
    adjust_counter(&u->jobs_reserved, reserved, add);
    adjust_counter(&u->jobs_adopted, active && reservation_adopted(r), add);
    adjust_counter(&u->jobs_found, reserved && found, add);
    adjust_counter(&u->found, there && found, add);
    adjust_counter(active ? &u->vnis_live : &u->vnis_held, reservation_own_vnis(r), add);
}

static bool occupy_vnis(struct core *core, const struct reservation *r, bool add)
{
    const unsigned own = reservation_own_vnis(r);
    bool fits = true;
    if (add && own > 0 && r->number >= core->facts.round_number) {
        core->facts.round_number = r->number;
        core->facts.next_vni = core->vnis.after = (uint32_t)r->vnis[own - 1] + 1;
    }
    for (unsigned i = 0; i < r->vni_count; i++) {
        if (i >= own)
            fits &= shared_use(&core->shared, r->vnis[i], r->state == JOB_ACTIVE, add);
        else if (!add)
            vnipool_drop(&core->vnis, r->vnis[i],
                         r->number > core->suspicion.numbers && r->node_number == 0);
        else if (r->state == JOB_ACTIVE)
            fits &= vnipool_take(&core->vnis, r->vnis[i]);
        else
            fits &= vnipool_quarantine(&core->vnis, r->vnis[i]);
    }
    return fits;
}

/* What a reservation occupies: VNIs, addresses, its place in the counts. Taken back before it
 * changes, put in again after, so that no transition can be forgotten. */
static bool occupy(struct core *core, const struct reservation *r, bool add)
{
    assert(r->vni_count <= VNI_PER_JOB_MAX);
    bool fits = occupy_vnis(core, r, add);
    if (r->pkey != 0) {
        fits &= !add || !idset_has(&core->pkeys_taken, r->pkey);
        (add ? idset_add : idset_remove)(&core->pkeys_taken, r->pkey);
    }
    if (r->state == JOB_RELEASING) {
        (add ? held_add : held_remove)(&core->vnis_held, r->uid, reservation_own_vnis(r));
        (add ? held_add : held_remove)(&core->pkeys_held, r->uid, r->pkey != 0);
    }
    if (r->overdue)
        adjust_counter(&core->overdue, r->vni_count, add);
    if (r->node_number != 0)
        adjust_counter(&core->suspicion.unknown_lives, 1, add);
    if (!add && r->state == JOB_ACTIVE && reservation_adopted(r) &&
        !core_has_plugin(core, r->cluster))
        core->suspicion.adopted_over_ms = core->now_ms;
    if (r->fm_side == FM_SIDE_NOTHING && r->hwcoll == HWCOLL_WANTED)
        adjust_counter(&core->addresses_awaited, 1, add);
    adjust_use(&core->all_use, r, add);
    adjust_use(&core_cluster(core, r->cluster)->use, r, add);
    return fits;
}

/* Effects of this step may still point at the old text, so its memory stays until the next one. */
static void replace_text(struct core *core, char **text, const char *with)
{
    if (*text == with)
        return;
    char *copy = memory_text(with);
    core_discard(core, *text);
    *text = copy;
}

/* The same, but a secret is wiped at once. */
static void replace_secret(struct core *core, struct secret *secret, struct secret with)
{
    char *old = (char *)(uintptr_t)secret_expose(*secret);
    if (old == secret_expose(with))
        return;
    *secret = secret_copy(with);
    if (old)
        explicit_bzero(old, strlen(old));
    core_discard(core, old);
}

static void replace_token(struct core *core, struct reservation *r, struct secret with)
{
    assert(r->cluster);
    if (secret_expose(r->token) == secret_expose(with))
        return;
    tokenset_remove(&core->tokens, r);
    replace_secret(core, &r->token, with);
    tokenset_add(&core->tokens, r);
}

static struct reservation *create_reservation(struct core *core,
                                              const struct reservation_record *rec)
{
    assert(!ledger_by_number(&core->ledger, rec->number));
    const size_t length = strlen(rec->job), more = rec->profile ? strlen(rec->profile) + 1 : 0;
    /* Without what pads the struct: a million of them are 16 MB less (G6). */
    struct reservation *r = memory_zeroed(offsetof(struct reservation, job) + length + 1 + more);
    memcpy(r->job, rec->job, length + 1);
    r->profiled = rec->profile;
    if (rec->profile)
        memcpy(r->job + length + 1, rec->profile, more);
    r->number = rec->number;
    r->cluster = core_cluster(core, rec->cluster)->name;
    ledger_insert(&core->ledger, r);
    if (core->last_number < r->number)
        core->last_number = r->number;
    return r;
}

/* What the store cannot see in one row: fields that contradict each other, and the order. */
static int check_reservation(const struct core *core, const struct reservation_record *rec,
                             struct error *err)
{
    assert(cluster_name_valid(rec->cluster) && job_id_valid(rec->job));
    assert(rec->state == JOB_ACTIVE || rec->state == JOB_RELEASING);
    bool wants = rec->hwcoll == HWCOLL_WANTED || rec->hwcoll == HWCOLL_RESERVED;
    bool slingshot = rec->interconnect == INTERCONNECT_SLINGSHOT;
    bool has_key = !secret_none(rec->key);
    if ((wants && rec->state != JOB_ACTIVE) || rec->shared_count > rec->vni_count ||
        (slingshot
             ? rec->pkey != 0 || (has_key && rec->addresses == 0 && rec->origin != ORIGIN_PLUGIN)
             : rec->vni_count > 0 || wants) ||
        (rec->hwcoll == HWCOLL_RESERVED && rec->fm_side == FM_SIDE_NOTHING))
        return error_set(err, ERROR_CORRUPT,
                         "reservation %llu has fields that contradict each other",
                         (unsigned long long)rec->number);
    if (!ledger_by_number(&core->ledger, rec->number) && core->ledger.row_count > 0 &&
        rec->number <= core->ledger.rows[core->ledger.row_count - 1].number)
        return error_set(err, ERROR_CORRUPT, "reservation %llu comes out of order",
                         (unsigned long long)rec->number);
    return 0;
}

static int apply_reservation(struct core *core, const struct reservation_record *rec,
                             struct error *err)
{
    int rc = check_reservation(core, rec, err);
    if (rc < 0)
        return rc;
    struct reservation *r = ledger_by_number(&core->ledger, rec->number);
    bool had_addresses = r && r->fm_side != FM_SIDE_NOTHING;
    if (!r)
        r = create_reservation(core, rec);
    else
        (void)occupy(core, r, false);
    replace_text(core, &r->nodes, rec->nodes);
    replace_token(core, r, rec->token);
    replace_secret(core, &r->key, rec->key);
    replace_text(core, &r->reason, rec->reason);
    r->numbers = rec->numbers;
    if (r->fm_side != FM_SIDE_NOTHING || r->hwcoll == HWCOLL_WANTED)
        (void)core_operation(core, r);
    assert(reservation_valid(r));
    core->addresses_freed |= had_addresses && r->fm_side == FM_SIDE_NOTHING;
    if (!occupy(core, r, true))
        return error_set(err, ERROR_CORRUPT,
                         "reservation %llu (%s-%s) has a VNI or partition key that another one has "
                         "too, or a shared VNI that is not there",
                         (unsigned long long)r->number, r->cluster, r->job);
    return 0;
}

static uint64_t lingering_nodes(const struct reservation *r)
{
    assert(!r->reported || r->reported->lingering <= r->reported->count);
    return !r->reported ? 0 : r->reported->lingering;
}

static int apply_gone(struct core *core, uint64_t number, struct error *err)
{
    struct reservation *r = ledger_by_number(&core->ledger, number);
    if (!r)
        return error_set(err, ERROR_CORRUPT, "reservation %llu is over but was never there",
                         (unsigned long long)number);
    (void)occupy(core, r, false);
    agenda_set(&core->agenda, r, INT64_MAX);
    drop_operation(core, r);
    drop_cleaner(core, r);
    drop_relay(core, r);
    assert(!r->op && !r->cleaner);
    ledger_remove(&core->ledger, r);
    assert(core->lingering >= lingering_nodes(r));
    core->lingering -= lingering_nodes(r);
    nodes_destroy(r->reported);
    r->reported = NULL;
    replace_text(core, &r->nodes, NULL);
    replace_token(core, r, (struct secret){0});
    replace_secret(core, &r->key, (struct secret){0});
    replace_text(core, &r->reason, NULL);
    core_discard(core, r);
    return 0;
}

static int apply_node(struct core *core, const struct node_record *rec, struct error *err)
{
    struct reservation *r = ledger_by_number(&core->ledger, rec->number);
    if (!r)
        return error_set(err, ERROR_CORRUPT,
                         "node %.64s reports for reservation %llu, which is not there", rec->node,
                         (unsigned long long)rec->number);
    assert(core->lingering >= lingering_nodes(r));
    core->lingering -= lingering_nodes(r);
    nodes_put(&r->reported, rec);
    core->lingering += lingering_nodes(r);
    return 0;
}

static int apply_sum(struct core *core, const struct sum_record *rec, struct error *err)
{
    struct reservation *r = ledger_by_number(&core->ledger, rec->number);
    char name[NODELIST_NAME_MAX + 1];
    const bool loaded = core->now_ms == 0; /* else core_node_sum has compared the lists */
    if (!r || !r->nodes || rec->sum <= (!r->reported ? 0 : r->reported->sums) ||
        (loaded && nodes_beyond(rec->nodes, r->nodes, name)))
        return error_set(err, ERROR_CORRUPT, "sum %u of nodes does not fit reservation %llu",
                         rec->sum, (unsigned long long)rec->number);
    assert(core->lingering >= lingering_nodes(r));
    core->lingering -= lingering_nodes(r);
    nodes_sum(&r->reported, rec);
    if (loaded) /* from disk: what it changed, later reports may have changed again */
        r->reported->sums = rec->sum;
    core->lingering += lingering_nodes(r);
    return 0;
}

static int apply_cleanup(struct core *core, const struct cleanup_record *rec, struct error *err)
{
    assert(steppath_valid(rec->step) && rec->below <= 1);
    struct reservation *r = ledger_by_number(&core->ledger, rec->number);
    if (!r)
        return error_set(err, ERROR_CORRUPT, "a cleanup has no reservation %llu",
                         (unsigned long long)rec->number);
    struct cleaner *k = cleaner_of(r);
    struct cleanup *c = cleaner_find(k, rec->step, rec->below);
    core->cleanups.pending += !c;
    if (!c)
        c = cleaner_add(k, k->count, rec->step, rec->below);
    c->give_up_ms = rec->give_up_ms;
    return 0;
}

static int apply_cleaned(struct core *core, const struct cleanup_record *rec, struct error *err)
{
    struct reservation *r = ledger_by_number(&core->ledger, rec->number);
    struct cleanup *c = r ? cleaner_find(r->cleaner, rec->step, rec->below) : NULL;
    if (!c)
        return error_set(err, ERROR_CORRUPT, "a cleanup for reservation %llu is over, never asked",
                         (unsigned long long)rec->number);
    cleaner_end(r->cleaner, c);
    assert(core->cleanups.pending > 0);
    core->cleanups.pending--;
    return 0;
}

static int apply_event(struct core *core, const struct event_record *event, struct error *err)
{
    assert(core->events.next >= core->events.first);
    if (eventlog_count(&core->events) > 0 && event->seq != core->events.next)
        return error_set(err, ERROR_CORRUPT, "event %llu does not follow event %llu",
                         (unsigned long long)event->seq,
                         (unsigned long long)(core->events.next - 1));
    eventlog_append(&core->events, event);
    if (core->last_seq < event->seq)
        core->last_seq = event->seq;
    return 0;
}

static int apply_facts(struct core *core, const struct facts_record *facts)
{
    assert(facts->boot && strlen(facts->boot) <= BOOT_ID_MAX);
    memmove(core->boot, facts->boot, strlen(facts->boot) + 1);
    core->facts = *facts;
    core->facts.boot = core->boot;
    if (facts->next_vni > 0)
        core->vnis.after = facts->next_vni;
    if (core->last_number < facts->round_number)
        core->last_number = facts->round_number;
    return 0;
}

int core_apply(struct core *core, const struct record *record, struct error *err)
{
    switch (record->kind) {
    case RECORD_RESERVATION:
        return apply_reservation(core, &record->u.reservation, err);
    case RECORD_GONE:
        return apply_gone(core, record->u.gone, err);
    case RECORD_EVENT:
        return apply_event(core, &record->u.event, err);
    case RECORD_NODE:
        return apply_node(core, &record->u.node, err);
    case RECORD_SUM:
        return apply_sum(core, &record->u.sum, err);
    case RECORD_CLEANUP:
        return apply_cleanup(core, &record->u.cleanup, err);
    case RECORD_CLEANED:
        return apply_cleaned(core, &record->u.cleanup, err);
    case RECORD_PRUNE:
        eventlog_prune(&core->events, record->u.prune);
        return 0;
    case RECORD_COUNTERS:
        core->last_number = record->u.counters.last_number;
        core->last_seq = record->u.counters.last_seq;
        return 0;
    case RECORD_FOUNDED:
        core->founded = true;
        return 0;
    case RECORD_FACTS:
        return apply_facts(core, &record->u.facts);
    case RECORD_TRAFFIC:
        if (record->u.traffic.seq <= core->traffic.last_seq)
            return error_set(err, ERROR_CORRUPT, "traffic %llu comes out of order",
                             (unsigned long long)record->u.traffic.seq);
        traffic_keep(&core->traffic, &record->u.traffic);
        return 0;
    case RECORD_TRAFFIC_GONE:
        core_discard(core, traffic_take(&core->traffic, record->u.traffic_gone));
        return 0;
    case RECORD_NODE_NICS:
        core_discard(core, nodenics_put(&core->nics, &record->u.nics));
        return 0;
    case RECORD_NODE_NICS_GONE:
        core_discard(core, nodenics_take(&core->nics, record->u.nics.node));
        return 0;
    case RECORD_ROOT_KEYS:
        return 0;
    case RECORD_SHARED_VNI:
        return core_apply_shared(core, &record->u.shared_vni, err);
    case RECORD_SHARED_GONE:
        return core_apply_shared_gone(core, record->u.shared_gone, err);
    case RECORD_PARTITIONS:
        return core_apply_partitions(core, record->u.partitions, err);
    }
    return error_set(err, ERROR_CORRUPT, "a record of unknown kind %d", (int)record->kind);
}

/* What the core made itself fits; else the core has a bug and must not go on. */
void core_save_record(struct core *core, struct record record)
{
    assert(record.kind != RECORD_COUNTERS);
    if (core_apply(core, &record, NULL) != 0)
        abort();
    if (record.kind == RECORD_SUM &&
        ledger_by_number(&core->ledger, record.u.sum.number)->reported->sums != record.u.sum.sum)
        return; /* it changed nothing */
    /* Its texts are the core's own from now on. */
    if (record.kind == RECORD_RESERVATION) {
        const struct reservation *r = ledger_by_number(&core->ledger, record.u.reservation.number);
        record.u.reservation = reservation_record(r);
    } else if (record.kind == RECORD_EVENT) {
        record.u.event = *eventlog_at(&core->events, record.u.event.seq);
    } else if (record.kind == RECORD_TRAFFIC) {
        record.u.traffic = *traffic_newest(&core->traffic);
    } else if (record.kind == RECORD_FACTS) {
        record.u.facts = core->facts;
    } else if (record.kind == RECORD_SHARED_VNI) {
        record.u.shared_vni = shared_by_vni(&core->shared, record.u.shared_vni.vni)->record;
    } else if (record.kind == RECORD_PARTITIONS) {
        record.u.partitions = core->foreign.text;
    }
    core_effect(core, EFFECT_SAVE)->u.record = record;
}

struct reservation *core_save(struct core *core, const struct reservation_record *rec)
{
    assert(rec->number > 0);
    core_save_record(core, (struct record){.kind = RECORD_RESERVATION, .u.reservation = *rec});
    return ledger_by_number(&core->ledger, rec->number);
}

void core_save_facts(struct core *core, const struct facts_record *facts)
{
    assert(facts->boot);
    core_save_record(core, (struct record){.kind = RECORD_FACTS, .u.facts = *facts});
}
