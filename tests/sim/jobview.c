/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/jobview.h"

#include "base/memory.h"

#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

void jobview_take(struct sim *sim, struct jobview *jobview, uint32_t cluster)
{
    const struct rm *rm = &sim->rm;
    *jobview = (struct jobview){.cluster = cluster, .taken_ms = sim->now_ms};
    jobview->active = memory_zeroed((rm->job_count + FORMERS_MAX) * sizeof *jobview->active);
    slurm_name_formers(sim, jobview);
    for (size_t i = 0; i < rm->job_count; i++)
        if (rm->jobs[i]->active && rm->jobs[i]->cluster == cluster)
            jobview->active[jobview->count++] = rm->jobs[i]->id;
}

void jobview_release(struct jobview *jobview)
{
    free(jobview->active);
    *jobview = (struct jobview){0};
}

/* Whether a job of the cluster is active that the first `named` do not name. */
static bool lacks_one(const struct rm *rm, const struct jobview *jobview, size_t named)
{
    for (size_t i = 0; i < rm->job_count; i++) {
        const struct job *job = rm->jobs[i];
        bool found = !job->active || job->cluster != jobview->cluster;
        for (size_t at = 0; at < named && !found; at++)
            found = strcmp(jobview->active[at], job->id) == 0;
        if (!found)
            return true;
    }
    return false;
}

size_t jobview_named(struct sim *sim, const struct jobview *jobview, bool lies)
{
    struct rm *rm = &sim->rm;
    int64_t *since = &rm->lacking_ms[jobview->cluster];
    size_t named = jobview->count;
    const char *cluster = sim->config.clusters[jobview->cluster].name;
    if (lies && named > 0 && !sim->pieces && !slurm_has_any(sim, cluster) &&
        (*since == 0 || sim->now_ms - *since < sim->config.sync_grace_ms)) {
        named = rng_below(&rm->rng, (uint32_t)named);
        sim_trace(sim, "rm: it names %zu of %zu jobs", named, jobview->count);
    }
    if (!lacks_one(rm, jobview, named))
        *since = 0;
    else if (*since == 0)
        *since = sim->now_ms;
    return named;
}
