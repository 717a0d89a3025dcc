/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reconcile/reconcile.h"

#include <assert.h>
#include <string.h>

/* A ledger that does not know all jobs that run: it is new, or older than they are (B4, B11). */

enum { NUMBERS_SKIPPED = 1 << 20 }; /* more than a lost part of the ledger can have given */

/* Whether any cluster gets VNIs from here. */
static bool gives_vnis(const struct core *core)
{
    assert(core->config.cluster_count <= CLUSTERS_MAX);
    for (uint32_t i = 0; i < core->config.cluster_count; i++)
        if (!core->config.clusters[i].plugin)
            return true;
    return false;
}

/* The jobs that run may have VNIs which this ledger takes for free. A job whose Slurm gives VNIs
 * itself has none of them; but where there was a ledger before this one, jobs of other clusters
 * without addresses may run, which nothing at the fabric manager tells of (B9, I1). */
void suspect_begin(struct core *core, const char *cluster, const char *job, const char *why)
{
    assert(cluster && job);
    assert(why);
    if (core_has_plugin(core, cluster) && !gives_vnis(core))
        return;
    alarm_raise(
        core, ALARM_OLD_LEDGER, cluster,
        "%s-%s %s; VNIs that are not known to be free are not given out%s", cluster, job, why,
        core_has_plugin(core, cluster) ? " until the clusters whose jobs have some from here "
                                         "have named all that run (list_command, or a sync)"
                                       : "");
    if (core->facts.suspect)
        return;
    core->suspicion.since_ms = core->now_ms;
    core->suspicion.numbers = core->last_number;
    /* What the lost part of the ledger numbered must not be taken for what comes now: by nodes, and
     * by those who still have a token of it (I6). */
    if (core->founded || !core->config.fm_present)
        core->last_number += NUMBERS_SKIPPED;
    struct facts_record facts = core->facts;
    facts.suspect = 1;
    facts.round_number = core->last_number;
    core_save_facts(core, &facts);
    vnipool_begin_suspicion(&core->vnis);
}

static void suspect_end(struct core *core, const char *why)
{
    assert(core->facts.suspect);
    struct facts_record facts = core->facts;
    facts.suspect = 0;
    core_save_facts(core, &facts);
    vnipool_end_suspicion(&core->vnis);
    for (uint32_t i = 0; i < core->cluster_count; i++)
        alarm_clear(core, ALARM_OLD_LEDGER, core->clusters[i]->name);
    alarm_clear(core, ALARM_OLD_LEDGER, NULL);
    core_trace(core, TRACE_NOTICE, "%s -> %u VNIs can be given out again", why,
               core->vnis.free.count);
}

void suspect_resume(struct core *core)
{
    if (!core->facts.suspect)
        return;
    core->suspicion.since_ms = core->now_ms;
    core->suspicion.numbers = core->last_number;
    vnipool_begin_suspicion(&core->vnis);
    alarm_raise(core, ALARM_OLD_LEDGER, NULL,
                "before the restart jobs were seen that this ledger does not know; VNIs that are "
                "not known to be free are not given out");
}

/* Adopted jobs that may have VNIs of the pool. */
static uint64_t adopted_with_vnis(const struct core *core)
{
    uint64_t count = core->all_use.jobs_adopted;
    for (uint32_t i = 0; i < core->cluster_count; i++)
        if (core_has_plugin(core, core->clusters[i]->name))
            count -= core->clusters[i]->use.jobs_adopted;
    assert(count <= core->all_use.jobs_adopted);
    return count;
}

/* It is on for a job that Slurm's plugin may have made; or was, before a restart. */
static bool is_for_plugin(const struct core *core)
{
    if (alarm_on(core, ALARM_OLD_LEDGER, NULL) &&
        adopted_with_vnis(core) < core->all_use.jobs_adopted)
        return true;
    for (uint32_t i = 0; i < core->cluster_count; i++)
        if (core_has_plugin(core, core->clusters[i]->name) &&
            alarm_on(core, ALARM_OLD_LEDGER, core->clusters[i]->name))
            return true;
    return false;
}

/* The jobs that the ledger did not know are over. After a restart it is not known whose they were:
 * then those that name jobs at all are asked. For what a plugin may have made, all others are: jobs
 * of its own cluster have no VNIs of the pool. */
static bool knows_all_jobs(struct core *core)
{
    assert(core->all_use.jobs_adopted <= core->all_use.jobs_active);
    const bool any_cluster = alarm_on(core, ALARM_OLD_LEDGER, NULL), plugin = is_for_plugin(core);
    bool named = false;
    for (uint32_t i = 0; plugin && i < core->config.cluster_count; i++)
        (void)core_cluster(core, core->config.clusters[i].name); /* also what was never heard of */
    if (adopted_with_vnis(core) > 0 || core->suspicion.unknown_lives > 0)
        return false;
    for (uint32_t i = 0; i < core->cluster_count; i++) {
        const struct cluster *cluster = core->clusters[i];
        const struct cluster_config *config = core_cluster_config(core, cluster->name);
        if (config && config->plugin)
            continue;
        bool asked = alarm_on(core, ALARM_OLD_LEDGER, cluster->name) || (plugin && config) ||
                     (any_cluster && cluster->joblist_ms != 0);
        /* Its resource manager has named all active jobs since the last unknown one ended. */
        if (asked &&
            (cluster->unknown_jobs > 0 || cluster->joblist_ms <= core->suspicion.adopted_over_ms ||
             cluster->joblist_ms <= core->suspicion.since_ms))
            return false;
        named |= asked;
    }
    return named;
}

void suspect_watch(struct core *core)
{
    assert(core->all_use.jobs_adopted <= core->all_use.jobs_active);
    if (core->suspicion.unknown_lives == 0)
        memset(core->suspicion.nodes, 0, sizeof core->suspicion.nodes[0]);
    if (!core->facts.suspect && core->suspicion.unknown_lives == 0) {
        for (uint32_t i = 0; core->alarms && i < core->cluster_count; i++)
            alarm_clear(core, ALARM_OLD_LEDGER, core->clusters[i]->name);
        core->suspicion.node[0] = '\0';
    }
    if (!core->facts.suspect)
        return;
    bool all = knows_all_jobs(core);
    if (all && core->suspicion.since_ms < core->now_ms)
        suspect_end(core, "all jobs that the ledger did not know are over");
    else if (!all && core->now_ms >= suspect_deadline(core))
        suspect_end(core, "[vni] hold is over since jobs were seen that the ledger does not know");
}

int64_t suspect_deadline(const struct core *core)
{
    if (!core->facts.suspect || core->config.vni_hold_ms < 0)
        return INT64_MAX;
    return core->suspicion.since_ms + core->config.vni_hold_ms;
}
