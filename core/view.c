/* SPDX-License-Identifier: Apache-2.0 */
#include "core/interconnect/interconnect.h"
#include "core/reservation/quarantine.h"
#include "core/reservation/sizing.h"

#include <assert.h>
#include <string.h>

/* What the core shows of itself: nothing here changes anything. */

/* What one page of a list does at most: reservations to read, and comparisons of node lists with
 * a node's name, in bytes of the one times bytes of the other. The last list is read to its end. */
enum { PAGE_READS_MAX = 2000, PAGE_COMPARES_MAX = 16 * NODES_TEXT_MAX };

static bool waits_for_nodes(const struct reservation *r)
{
    assert(r->vni_count <= VNI_PER_JOB_MAX);
    return r->state == JOB_RELEASING && r->vni_count > 0 &&
           nodes_clean(r->reported) < r->node_count;
}

/* When the oldest job was released that waits for nodes; 0: none among the oldest few thousand. */
static int64_t oldest_wait(const struct core *core)
{
    struct ledger_walk walk = {0};
    const struct reservation *r = NULL;
    for (size_t read = 0; core->vnis.quarantined.count > 0 && read < PAGE_READS_MAX; read++) {
        r = ledger_walk(&core->ledger, &walk);
        if (!r || waits_for_nodes(r))
            break;
    }
    return r && waits_for_nodes(r) ? r->released_ms : 0;
}

void core_status(const struct core *core, struct core_status *out)
{
    assert(core->all_use.jobs_reserved <= core->all_use.jobs_active);
    assert(core->vnis.pool.count >= core->vnis.free.count);
    uint32_t addresses_per_job = 0, most_uid = UID_UNKNOWN;
    const uint32_t vnis_most = held_most(&core->vnis_held, &most_uid);
    (void)sizing_addresses(&core->config, &addresses_per_job, NULL);
    *out = (struct core_status){
        .link = core->link.state,
        .link_since_ms = core->link.since_ms,
        .link_listed_ms = core->link.listed_ms,
        .link_heard_ms = core->link.heard_ms,
        .link_probed = core->link.state == LINK_UP && core->link.list != 0,
        .link_losses = core->link.losses,
        .link_url = core_fm_url(core),
        .link_error = core->link.error,
        .link_cause = link_cause(core),
        .link_advice = link_advice(&core->link),
        .list_error = core->link.list_error,
        .list_cause =
            core->link.list_error[0] == '\0' ? "" : fmcall_outcome_cause(core->link.list_fault),
        .reserves_failed = core->link.reserves_failed,
        .reserves_failing_ms = core->link.reserves_failed > 0 ? core->link.reserves_failing_ms : 0,
        .reserve_error = core->link.reserves_failed > 0 ? core->link.reserve_error : "",
        .reserve_cause =
            core->link.reserves_failed > 0 ? fmcall_outcome_cause(core->link.reserve_fault) : "",
        .reserve_took_ms = reservewait_longest(&core->reservewait),
        .reserve_wait_ms =
            core->config.reserve_timeout_ms != RESERVE_TIMEOUT_AUTO
                ? core->config.reserve_timeout_ms
                : reservewait_time(&core->reservewait, core->config.call_timeout_ms, 1),
        .vnis_free = core->vnis.free.count,
        .vnis_live = core->vnis.live.count,
        .vnis_in_quarantine = core->vnis.quarantined.count,
        .vnis_foreign = idset_common(&core->vnis.pool, &core->vnis.foreign),
        .vnis_foreign_used = idset_common(&core->vnis.live, &core->vnis.foreign) +
                             idset_common(&core->vnis.quarantined, &core->vnis.foreign),
        .vnis_shared = core->shared.count,
        .vnis_suspect = core->vnis.suspect.count,
        .vnis_pool = core->vnis.pool.count,
        .vnis_none_ms = core->vnis_none_ms,
        .vnis_held_most = vnis_most,
        .vnis_held_most_uid = most_uid,
        .vnis_refused = core->vnis_held.refused,
        .pkeys_free = omnipath_pkeys_free(core),
        .pkeys_taken = core->pkeys_taken.count,
        .pkeys_pool = core->config.omnipath.pkeys.count,
        .pkeys_held_most = held_most(&core->pkeys_held, NULL),
        .pkeys_refused = core->pkeys_held.refused,
        .addresses_total = core->config.total_addresses,
        .use = core->all_use,
        .addresses_per_job = addresses_per_job,
        .addresses_full_ms = core->addresses_full_ms,
        .nodes_waited_ms = oldest_wait(core),
        .nodes_lingering = core->lingering,
        .vnis_overdue = core->overdue,
        .vnis_unconfirmed = core->unconfirmed,
        .strays = (uint32_t)core->strays.known.count,
        .calls_queued_reserve = core->calls.lanes[LANE_RESERVE].queued,
        .calls_queued_release = core->calls.lanes[LANE_RELEASE].queued,
        .calls_queued_check = core->calls.lanes[LANE_CHECK].queued,
        .calls_queued_cleanup = core->calls.lanes[LANE_CLEANUP].queued,
        .calls_in_flight = callqueue_in_flight(&core->calls),
        .cleanups = core->cleanups,
        .traffic = core->traffic_sums,
        .last_number = core->last_number,
        .first_seq = core_first_seq(core),
        .last_seq = core->last_seq,
    };
}

bool core_cluster_status(const struct core *core, uint32_t index, struct core_cluster_status *out)
{
    assert(core->config.cluster_count <= CLUSTERS_MAX);
    static const struct cluster none;
    const struct cluster *found = &none;
    if (index >= core->config.cluster_count)
        return false;
    const struct cluster_config *config = &core->config.clusters[index];
    for (uint32_t i = 0; i < core->cluster_count; i++) {
        if (strcmp(core->clusters[i]->name, config->name) == 0)
            found = core->clusters[i];
    }
    *out = (struct core_cluster_status){
        .name = config->name,
        .budget = config->budget,
        .use = found->use,
        .synced_ms = found->synced_ms,
        .jobpoll = config->jobpoll,
        .jobpoll_ms = found->jobpoll.whole_ms,
        .jobpoll_failures = found->jobpoll.failures,
        .jobpoll_error = found->jobpoll.error,
        .jobpoll_failing_ms = found->jobpoll.failing_ms,
        .name_conflict = found->name_conflict,
    };
    memcpy(out->published, found->published, sizeof out->published);
    return true;
}

const struct alarm *core_alarms(const struct core *core)
{
    assert(core);
    return core->alarms;
}

static void name_first_in(struct core_waiting *out, const struct nodes *reported,
                          enum node_state state)
{
    const uint32_t end = out->named + WAITING_EACH_MAX;
    uint32_t at = 0;
    const struct node_report *report;
    assert(end <= WAITING_NAMES_MAX);
    while (out->named < end && (report = nodes_next(reported, &at))) {
        if (report->state != state)
            continue;
        out->names[out->named] = report->name;
        out->services[out->named++] = node_report_services(report);
    }
}

void core_waiting(const struct reservation *r, struct core_waiting *out)
{
    *out = (struct core_waiting){0};
    if (!waits_for_nodes(r))
        return;
    out->count = r->node_count - nodes_clean(r->reported);
    out->unheard = r->node_count - (!r->reported ? 0 : r->reported->count);
    out->lingering = !r->reported ? 0 : r->reported->lingering;
    out->created = out->count - out->unheard - out->lingering;
    assert(out->unheard + out->lingering <= out->count);
    if (out->lingering > 0)
        name_first_in(out, r->reported, NODE_LINGERING);
    out->named_lingering = out->named;
    if (out->created > 0)
        name_first_in(out, r->reported, NODE_CREATED);
    assert(out->named <= out->count);
}

struct silent {
    const struct nodes *reported;
    struct nodeset nodes;
};

static void put_silent(void *arg, const char *name)
{
    assert(name);
    struct silent *silent = arg;
    if (!nodes_find(silent->reported, name))
        nodeset_put(&silent->nodes, name);
}

void core_silent_nodes(const struct reservation *r, struct nodefold *out)
{
    assert(r);
    struct silent silent = {.reported = r->reported};
    if (r->nodes && waits_for_nodes(r) && (!r->reported || r->reported->count < r->node_count))
        nodelist_each(r->nodes, put_silent, &silent);
    nodeset_fold(&silent.nodes, out);
}

const struct shared_vni *core_shared(const struct core *core)
{
    assert(core);
    return core->shared.first;
}

const struct shared_vni *core_find_shared(const struct core *core, const char *name)
{
    assert(core);
    return shared_by_name(&core->shared, name);
}

bool core_partition(const struct core *core, size_t index, struct core_partition *out)
{
    assert(core);
    const struct partitions *others = &core->foreign.others;
    if (index >= others->count)
        return false;
    const struct partition_entry *one = &others->all[index];
    *out = (struct core_partition){.name = one->name,
                                   .vnis = one->vnis.count,
                                   .pooled = idset_common(&one->vnis, &core->vnis.pool)};
    return true;
}

bool core_partitions_open(const struct core *core)
{
    assert(core);
    return core->foreign.lacking.count > 0 || core->foreign.doubted_ms != 0 || core->foreign.other;
}

const struct reservation *core_foreign_user(const struct core *core)
{
    assert(core);
    struct ledger_walk walk = {0};
    const struct reservation *r = NULL;
    if (idset_common(&core->vnis.live, &core->vnis.foreign) == 0)
        return NULL;
    for (size_t read = 0; read < PAGE_READS_MAX && (r = ledger_walk(&core->ledger, &walk)); read++)
        for (unsigned i = 0; r->state == JOB_ACTIVE && i < r->vni_count; i++)
            if (idset_has(&core->vnis.foreign, r->vnis[i]))
                return r;
    return NULL;
}

const char *core_lingering_node(const struct core *core)
{
    assert(core);
    struct ledger_walk walk = {0};
    const struct reservation *r = NULL;
    const struct node_report *report = NULL;
    for (size_t read = 0; core->lingering > 0 && read < PAGE_READS_MAX; read++) {
        r = ledger_walk(&core->ledger, &walk);
        if (!r || (r->reported && r->reported->lingering > 0))
            break;
    }
    for (uint32_t at = 0; r && (report = nodes_next(r->reported, &at));) {
        if (report->state == NODE_LINGERING)
            break;
    }
    return report ? report->name : NULL;
}

const char *core_fm_url(const struct core *core)
{
    assert(core->link.url < FM_URLS_MAX);
    return core->config.fm_urls[core->link.url];
}

const struct core_config *core_config_of(const struct core *core)
{
    assert(core);
    return &core->config;
}

const struct reservation *core_find(const struct core *core, const char *cluster, const char *job)
{
    assert(cluster && job);
    return ledger_newest(&core->ledger, cluster, job);
}

enum core_presence core_presence(const struct reservation *r, const char *node)
{
    assert(node);
    if (r->nodes)
        return nodelist_contains(r->nodes, node) ? PRESENCE_NAMED : PRESENCE_NONE;
    return nodes_find(r->reported, node) ? PRESENCE_REPORTED : PRESENCE_POSSIBLE;
}

/* Of a job without a node list it is not known whether it waits for this one: a report would count
 * for a node that has services (I1). */
static bool waits_for_silent(const struct reservation *r, const char *node)
{
    assert(node);
    return r->nodes && waits_for_nodes(r) && !nodes_find(r->reported, node);
}

static bool matches_filter(const struct core_filter *filter, const struct reservation *r,
                           size_t *compared)
{
    assert(r);
    bool others = (filter->state == 0 || r->state == filter->state) &&
                  (filter->uid < 0 || r->uid == filter->uid) &&
                  (!filter->cluster || strcmp(r->cluster, filter->cluster) == 0);
    if (!others || !filter->node)
        return others;
    if (filter->silent && !waits_for_silent(r, filter->node))
        return false;
    *compared += r->nodes ? strlen(r->nodes) * strlen(filter->node) : 0;
    return core_presence(r, filter->node) != PRESENCE_NONE;
}

uint64_t core_page(const struct core *core, const struct core_filter *filter,
                   void (*each)(void *arg, const struct reservation *reservation), void *arg)
{
    assert(each);
    assert(filter->limit > 0);
    size_t found = 0, read = 0, compared = 0;
    struct ledger_walk walk = {.after = filter->after};
    const struct reservation *r;
    if (filter->silent && core->vnis.quarantined.count == 0)
        return 0; /* no reservation waits: thousands of nodes ask */
    for (uint64_t after = walk.after; (r = ledger_walk(&core->ledger, &walk)); after = walk.after) {
        if (found == filter->limit || read == PAGE_READS_MAX || compared >= PAGE_COMPARES_MAX)
            return after;
        read++;
        if (matches_filter(filter, r, &compared)) {
            each(arg, r);
            found++;
        }
    }
    return 0;
}

const struct traffic_record *core_traffic_of(const struct reservation *r)
{
    assert(r);
    return r->reported ? r->reported->traffic : NULL;
}

const struct traffic_record *core_traffic(const struct core *core, const char *cluster,
                                          const char *job, const struct reservation **reservation)
{
    assert(cluster && job);
    *reservation = core_find(core, cluster, job);
    if (*reservation)
        return core_traffic_of(*reservation);
    return traffic_find(&core->traffic, cluster, job, core->now_ms - core->config.traffic_keep_ms);
}

const struct nodenics *core_node_nics(const struct core *core, const char *node)
{
    assert(node);
    return nodenics_find(&core->nics, node);
}

const struct nodenics *core_node_nics_after(const struct core *core, const char *node)
{
    assert(node);
    return nodenics_after(&core->nics, node);
}

uint64_t core_first_seq(const struct core *core)
{
    assert(core->events.next <= core->last_seq + 1);
    return eventlog_count(&core->events) > 0 ? core->events.first : core->last_seq + 1;
}

uint64_t core_last_seq(const struct core *core)
{
    assert(core);
    return core->last_seq;
}

const struct event_record *core_event_at(const struct core *core, uint64_t seq)
{
    assert(core);
    return eventlog_at(&core->events, seq);
}

enum launch_verdict core_judge_launch(const struct core *core, const struct reservation *r)
{
    assert(!r || reservation_valid(r));
    if (core->config.vni_hold_ms != HOLD_UNTIL_REPORTED)
        return LAUNCH_NEVER;
    if (!r)
        return LAUNCH_ALLOWED;
    if (r->state != JOB_ACTIVE || !r->nodes || r->uid == UID_UNKNOWN)
        return LAUNCH_UNBOUND;
    if (r->reported)
        return LAUNCH_EARLIER_START;
    return r->launched ? LAUNCH_ALLOWED : LAUNCH_UNSAVED;
}
