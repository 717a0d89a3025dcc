/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check.h"

#include "base/memory.h"
#include "core/reservation/reservation.h"
#include "tests/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long n(uint64_t number)
{
    return (unsigned long long)number;
}

static struct job *job_behind(const struct sim *sim, const char *name)
{
    char cluster[CLUSTER_NAME_MAX + 1];
    const char *job;
    return fm_name_split(name, cluster, &job) ? rm_find(sim, cluster, job) : NULL;
}

/* ---- the broker itself ---- */

/* What the broker has found and nobody has said is its own: it stays there. */
static uint64_t unclaimed(const struct sim *sim)
{
    uint64_t count = 0;
    for (size_t i = 0; i < sim->disk.reservation_count; i++) {
        const struct reservation_record *r = &sim->disk.reservations[i]->u.reservation;
        count +=
            r->state == JOB_RELEASING && r->origin == ORIGIN_FOUND && r->fm_side != FM_SIDE_NOTHING;
    }
    return count;
}

static void broker_is_settled(struct sim *sim)
{
    struct core_status status;
    if (!edge_settled(&sim->edge) || !journal_idle(&sim->journal)) {
        const struct edge *edge = &sim->edge;
        sim_fail(sim, "quiet",
                 "the broker has not settled: %s, %zu words, %zu records, %zu requests wait%s",
                 edge->core ? "alive" : "dead", edge->word_count, sim->journal.gathering.count,
                 edge->open_count, sim->journal.in_flight ? ", a commit is under way" : "");
        return;
    }
    core_status(sim->edge.core, &status);
    if (sim->config.fm_present && status.link != LINK_UP)
        sim_fail(sim, "F20", "the fabric manager is healthy, the link is %s: %s",
                 link_state_word(status.link), status.link_error);
    if (status.use.releases + status.calls_queued_reserve > unclaimed(sim))
        sim_fail(sim, "quiet", "calls that change something are queued");
}

/* The events kept can be replayed and are those on disk (F24). */
static void events_are_kept(struct sim *sim)
{
    struct core_status status;
    core_status(sim->edge.core, &status);
    if (status.last_seq != sim->disk.last_seq)
        sim_fail(sim, "F24", "the last event is %llu, on disk %llu", n(status.last_seq),
                 n(sim->disk.last_seq));
    for (uint64_t seq = status.first_seq; seq <= status.last_seq && status.last_seq > 0; seq++) {
        const struct event_record *kept = core_event_at(sim->edge.core, seq);
        const struct event_record *saved = disk_event(&sim->disk, seq);
        if (!kept || !saved || kept->seq != seq || kept->kind != saved->kind ||
            kept->number != saved->number)
            sim_fail(sim, "F24", "event %llu cannot be replayed as it was saved", n(seq));
    }
}

/* F24: by the last event of each reservation that is kept, a subscriber knows what is active, and
 * what it has. */
static void view_is_that_of_replay(struct sim *sim)
{
    const uint64_t last = sim->disk.last_number, first = core_first_seq(sim->edge.core);
    const struct event_record **view = memory_zeroed((last + 1) * sizeof(const void *));
    for (uint64_t seq = first; seq <= core_last_seq(sim->edge.core); seq++) {
        const struct event_record *e = core_event_at(sim->edge.core, seq);
        if (e && e->number > 0 && e->number <= last)
            view[e->number] = e;
    }
    for (uint64_t number = 1; number <= last; number++) {
        const struct event_record *e = view[number];
        const struct reservation_record *r = disk_find(&sim->disk, number);
        const bool active = r && r->state == JOB_ACTIVE;
        if (e ? (e->state == JOB_ACTIVE) != active : active && first == 1)
            sim_fail(sim, "F24", "number %llu is %s, by events it is not", n(number),
                     active ? "active" : "over");
        else if (e && active &&
                 (strcmp(e->job, r->job) != 0 || e->uid != r->uid ||
                  e->node_count != r->node_count || e->vni_count != r->vni_count ||
                  memcmp(e->vnis, r->vnis, sizeof e->vnis) != 0 ||
                  e->addresses != (r->hwcoll == HWCOLL_RESERVED ? r->addresses : 0)))
            sim_fail(sim, "F24", "number %llu has other things than its last event says",
                     n(number));
    }
    free(view);
}

static void is_expected(void *arg, const struct reservation *r)
{
    struct sim *sim = arg;
    const struct reservation_record *saved = disk_find(&sim->disk, r->number);
    if (!saved || saved->state != r->state || saved->hwcoll != r->hwcoll ||
        saved->fm_side != r->fm_side || saved->vni_count != r->vni_count)
        sim_fail(sim, "I2", "number %llu on disk is not what it is in memory", n(r->number));
    if (r->state != JOB_ACTIVE)
        return;
    const struct job *job = rm_find(sim, r->cluster, r->job);
    char name[FM_NAME_MAX + 1];
    fm_name_format(name, r->cluster, r->job);
    if (slurm_has(sim, name)) /* a former job runs, or the fabric manager has lost what it had */
        return;
    if (r->origin == ORIGIN_FOUND && fabric_find(&sim->fabric, name) &&
        !admin_can_tell(sim, r->cluster))
        return;
    if (rewind_runs(sim, r->cluster)) /* whose list names only jobs that it does not know */
        return;
    if (!model_protects(job) || job->told_number != r->number)
        sim_fail(sim, "I3", "number %llu (%s-%s) is active, and no job of that name is",
                 n(r->number), r->cluster, r->job);
}

static void each_reservation_is_expected(struct sim *sim)
{
    struct core_filter filter = {.uid = -1, .limit = 1000};
    do
        filter.after = core_page(sim->edge.core, &filter, is_expected, sim);
    while (filter.after != 0);
}

/* ---- the fabric manager ---- */

/* The broker has said that it does not know whose things are, and nobody can tell it. */
static bool is_disputed(const struct sim *sim, const struct object *object)
{
    char cluster[CLUSTER_NAME_MAX + 1];
    const char *job;
    return fm_name_split(object->name, cluster, &job) &&
           admin_sees(sim, ALARM_NAME_CONFLICT, cluster) && !admin_can_tell(sim, cluster);
}

/* Jobs run that the ledger has forgotten: what their list says is not believed. */
static bool is_in_unknown_cluster(const struct sim *sim, const struct object *object)
{
    char cluster[CLUSTER_NAME_MAX + 1];
    const char *job;
    return fm_name_split(object->name, cluster, &job) && rewind_runs(sim, cluster);
}

/* What a reserve left that acted late may be a lost job's, as long as the ledger is known to be an
 * older one and not all of its jobs are over: the broker says so, and waits. */
static bool is_in_doubt(const struct sim *sim, const struct object *object)
{
    const struct job *job = job_behind(sim, object->name);
    return sim->rewind.suspect && admin_sees(sim, ALARM_OLD_LEDGER, NULL) && !model_protects(job) &&
           (!job || !core_find(sim->edge.core, rm_cluster_name(sim, job), job->id));
}

static void object_is_expected(struct sim *sim, const struct object *object)
{
    const struct job *job = job_behind(sim, object->name);
    if (slurm_has(sim, object->name) || is_disputed(sim, object) ||
        is_in_unknown_cluster(sim, object) || is_in_doubt(sim, object))
        return;
    if (!model_protects(job)) {
        sim_fail(sim, "I3", "the fabric manager holds %s for no active job: a leak", object->name);
        return;
    }
    const struct entry *e = model_entry(&sim->model, job->told_number);
    const struct reservation *r = core_find(sim->edge.core, rm_cluster_name(sim, job), job->id);
    if (!e || !r)
        return; /* model_check has said so */
    /* What came there by itself, or is left of an earlier life, stays until the job is over. */
    if (e->lost_batch || (!e->token[0] && (object->number != e->number || object->returned)))
        return;
    if (!e->token[0])
        sim_fail(sim, "I3", "the fabric manager holds %s, its job was told hwcoll %s: a leak",
                 object->name, hwcoll_state_word(r->hwcoll));
    else if (strcmp(e->token, object->token) != 0)
        sim_fail(sim, "I4", "%s: the token that its job was told does not open it", object->name);
    else if (object->limit != r->addresses)
        sim_fail(sim, "F15", "%s has %u addresses instead of %u", object->name, object->limit,
                 r->addresses);
}

static void job_has_its_object(struct sim *sim, const struct job *job)
{
    const struct entry *e = model_entry(&sim->model, job->told_number);
    char name[FM_NAME_MAX + 1];
    if (!e || !e->token[0] || e->lost_batch)
        return;
    fm_name_format(name, rm_cluster_name(sim, job), job->id);
    if (!fabric_find(&sim->fabric, name))
        sim_fail(sim, e->forgotten ? "I4" : "I3",
                 "the fabric manager has %s no more, number %llu, and its job was not told", name,
                 n(e->number));
}

static void fabric_is_right(struct sim *sim)
{
    uint32_t foreign = 0;
    for (size_t i = 0; i < sim->fabric.count && sim->config.fm_present; i++) {
        const struct object *object = &sim->fabric.objects[i];
        foreign += object->foreign;
        if (!object->foreign)
            object_is_expected(sim, object);
    }
    if (sim->config.fm_present && foreign != sim->fabric.foreign)
        sim_fail(sim, "I6", "of %u objects of others %u are left", sim->fabric.foreign, foreign);
    for (size_t i = 0; i < sim->rm.job_count; i++)
        if (model_protects(sim->rm.jobs[i]))
            job_has_its_object(sim, sim->rm.jobs[i]);
}

/* F3: what every node has confirmed is not quarantined any longer. */
static void confirmed_vnis_are_free(struct sim *sim)
{
    for (size_t at = 0; at < sim->model.count; at++) {
        const struct entry *e = sim->model.entries[at];
        uint64_t number = e->number;
        const struct reservation_record *saved = disk_find(&sim->disk, number);
        if (e->job && !e->regranted && saved && saved->state == JOB_RELEASING &&
            saved->vni_count > 0 && hosts_heard_clean(e->job, number) >= e->node_count)
            sim_fail(sim, "F3", "number %llu: all %u nodes are clean, its VNIs are quarantined",
                     n(number), e->node_count);
    }
}

void check_quiet(struct sim *sim)
{
    broker_is_settled(sim);
    if (sim->result.failed)
        return;
    fabric_is_right(sim);
    each_reservation_is_expected(sim);
    confirmed_vnis_are_free(sim);
    events_are_kept(sim);
    view_is_that_of_replay(sim);
    asks_check_quiet(sim);
    joins_check_quiet(sim);
    nics_check(sim);
}

void check_empty(struct sim *sim)
{
    struct core_status status;
    check_quiet(sim);
    if (sim->result.failed)
        return;
    core_status(sim->edge.core, &status);
    if (sim->disk.reservation_count > 0 || status.use.jobs_active + status.use.jobs_releasing > 0)
        sim_fail(sim, "I2",
                 "%zu reservations are left on disk (the first is number %llu), %llu in memory",
                 sim->disk.reservation_count,
                 sim->disk.reservation_count ? n(sim->disk.reservations[0]->u.reservation.number)
                                             : 0,
                 n(status.use.jobs_active + status.use.jobs_releasing));
    shares_check_empty(sim);
    if (status.use.addresses > 0 || status.use.jobs_reserved > 0)
        sim_fail(sim, "I8", "every job is over, %llu addresses count as reserved",
                 n(status.use.addresses));
    if (status.cleanups.pending > 0)
        sim_fail(sim, "F19", "every job is over, %llu cleanups are pending",
                 n(status.cleanups.pending));
    if (status.strays > 0)
        sim_fail(sim, "I3", "%u strays are left", status.strays);
}

/* ---- budgets ---- */

static bool in_cluster(const char *name, const char *cluster)
{
    size_t length = strlen(cluster);
    return strncmp(name, cluster, length) == 0 && name[length] == '-';
}

static bool may_make_one(const struct wire_call *call)
{
    return call->kind == FMCALL_RESERVE && call->act_ms != INT64_MAX && !call->came &&
           !call->in_hand && !call->too_late;
}

/* Of several calls for one name only one can succeed. */
static bool asked_before(const struct sim *sim, const struct wire_call *call)
{
    for (const struct wire_call *other = sim->wire.calls; other != call; other = other->next)
        if (may_make_one(other) && strcmp(other->name, call->name) == 0)
            return true;
    return false;
}

static uint64_t held_and_asked(const struct sim *sim, const char *cluster)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < sim->fabric.count; i++) {
        const struct object *object = &sim->fabric.objects[i];
        if (object->number != 0 && !object->returned &&
            (!cluster || in_cluster(object->name, cluster)))
            sum += object->limit;
    }
    for (const struct wire_call *call = sim->wire.calls; call; call = call->next) {
        if (may_make_one(call) && (!cluster || in_cluster(call->name, cluster)) &&
            !fabric_find(&sim->fabric, call->name) && !asked_before(sim, call))
            sum += call->addresses;
    }
    return sum;
}

void check_budget(struct sim *sim, const struct wire_call *leaving)
{
    const struct core_config *config = &sim->config;
    if (sim->rewind.done) /* it cannot know of all that it has asked for */
        return;
    uint64_t all = held_and_asked(sim, NULL);
    if (config->total_addresses > 0 && all > config->total_addresses)
        sim_fail(sim, "I8", "with %s, %llu of %u addresses are asked for", leaving->name, n(all),
                 config->total_addresses);
    for (uint32_t i = 0; i < config->cluster_count; i++) {
        const struct cluster_config *cluster = &config->clusters[i];
        if (cluster->budget == 0 || !in_cluster(leaving->name, cluster->name))
            continue;
        uint64_t sum = held_and_asked(sim, cluster->name);
        if (sum > cluster->budget)
            sim_fail(sim, "I8", "with %s, %llu of the %u addresses of its cluster are asked for",
                     leaving->name, n(sum), cluster->budget);
    }
}
