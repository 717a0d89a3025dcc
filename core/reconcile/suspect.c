/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reconcile/reconcile.h"

#include <assert.h>
#include <string.h>

/* A ledger that does not know all jobs that run: it is new, or older than they are (B4, B11). */

enum { NUMBERS_SKIPPED = 1 << 20 }; /* more than a lost part of the ledger can have given */

/* The jobs that run may have VNIs which this ledger takes for free. */
void suspect_begin(struct core *core, const char *cluster, const char *job, const char *why)
{
    assert(cluster && job);
    assert(why);
    alarm_raise(core, ALARM_OLD_LEDGER, cluster,
                "%s-%s %s; VNIs that are not known to be free are not given out", cluster, job,
                why);
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

/* The jobs that the ledger did not know are over. After a restart it is not known whose they were:
 * then those that name jobs at all are asked. */
static bool knows_all_jobs(const struct core *core)
{
    assert(core->all_use.jobs_adopted <= core->all_use.jobs_active);
    bool any_cluster = alarm_on(core, ALARM_OLD_LEDGER, NULL), named = false;
    if (core->all_use.jobs_adopted > 0 || core->suspicion.unknown_lives > 0)
        return false;
    for (uint32_t i = 0; i < core->cluster_count; i++) {
        const struct cluster *cluster = core->clusters[i];
        bool asked = alarm_on(core, ALARM_OLD_LEDGER, cluster->name) ||
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
