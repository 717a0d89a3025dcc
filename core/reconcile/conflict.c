/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reconcile/reconcile.h"

#include "core/fabric/link.h"

#include <assert.h>
#include <string.h>

/* Names of ours at the fabric manager that this ledger cannot explain: another broker may use the
 * cluster's name, or the ledger may be new, or older than the jobs that run (B4, B11). What is not
 * proved to be ours is not deleted. */

void conflict_raise(struct core *core, const char *cluster, const char *job, const char *why)
{
    assert(cluster);
    assert(job);
    assert(why);
    core_cluster(core, cluster)->conflict_ms = core->now_ms;
    alarm_raise(core, ALARM_NAME_CONFLICT, cluster,
                "the fabric manager has a reservation %s-%s, and %s; what is not known to be this "
                "broker's is not deleted",
                cluster, job, why);
    /* Also where none is made otherwise: only what a list names can be claimed. */
    link_list_within(core, core->config.stray_grace_ms);
}

void conflict_resume(struct core *core)
{
    struct operation *at = core->operations;
    for (struct reservation *r; (r = operations_next(&at));) {
        if (r->origin == ORIGIN_FOUND && r->fm_side != FM_SIDE_NOTHING)
            conflict_raise(core, r->cluster, r->job,
                           "this ledger has no record of how it came there");
    }
}

void conflict_watch(struct core *core)
{
    assert(core->link.list != 0);
    for (uint32_t i = 0; i < core->cluster_count; i++) {
        struct cluster *cluster = core->clusters[i];
        /* What was seen after the list began is not yet in it. */
        if (cluster->use.found == 0 && cluster->contested == 0 &&
            cluster->conflict_ms < core->link.list_began_ms)
            alarm_clear(core, ALARM_NAME_CONFLICT, cluster->name);
    }
}

void core_claim(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_CLAIM);
    const char *cluster = event->u.claim.cluster;
    uint32_t count = 0, left = 0;
    if (!core_cluster_config(core, cluster)) {
        core_answer_no_cluster(core, event->ticket, cluster);
        return;
    }
    struct operation *at = core->operations;
    uint64_t joblist = core_cluster(core, cluster)->joblist;
    for (struct reservation *r; (r = operations_next(&at));) {
        if (r->origin != ORIGIN_FOUND || strcmp(r->cluster, cluster) != 0)
            continue;
        /* It may be a job's that runs, and that this ledger took for over (B11). */
        if (r->state == JOB_RELEASING && r->named_by != 0 && r->named_by >= joblist) {
            left++;
            continue;
        }
        listing_claim(core, r);
        count++;
    }
    for (size_t i = 0; i < core->strays.known.count; i++) {
        struct stray *stray = &core->strays.known.items[i];
        char name[CLUSTER_NAME_MAX + 1];
        const char *job;
        if (!fm_name_split(stray->name, name, &job) || strcmp(name, cluster) != 0)
            continue;
        stray->claimed = true;
        count++;
    }
    core_trace(core, TRACE_NOTICE,
               "an administrator says that cluster %s is this broker's alone -> %u reservations "
               "found at the fabric manager are its own",
               cluster, count);
    if (left > 0)
        core_trace(core, TRACE_WARNING,
                   "%u others of cluster %s stay, since its resource manager names their jobs as "
                   "active -> claim again when these jobs are over",
                   left, cluster);
    else
        alarm_clear(core, ALARM_NAME_CONFLICT, cluster);
    core_answer(core, event->ticket, ANSWER_CLAIMED, NULL, NULL)->count = count;
}
