/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/roster.h"

#include "base/memory.h"

#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

void roster_take(struct sim *sim, struct roster *roster, uint32_t cluster)
{
    const struct rm *rm = &sim->rm;
    *roster = (struct roster){.cluster = cluster, .taken_ms = sim->now_ms};
    roster->active = memory_zeroed((rm->job_count + 1) * sizeof *roster->active);
    for (size_t i = 0; i < rm->job_count; i++)
        if (rm->jobs[i]->active && rm->jobs[i]->cluster == cluster)
            roster->active[roster->count++] = rm->jobs[i]->id;
}

void roster_release(struct roster *roster)
{
    free(roster->active);
    *roster = (struct roster){0};
}

/* Whether a job of the cluster is active that the first `named` do not name. */
static bool lacks_one(const struct rm *rm, const struct roster *roster, size_t named)
{
    for (size_t i = 0; i < rm->job_count; i++) {
        const struct job *job = rm->jobs[i];
        bool found = !job->active || job->cluster != roster->cluster;
        for (size_t at = 0; at < named && !found; at++)
            found = strcmp(roster->active[at], job->id) == 0;
        if (!found)
            return true;
    }
    return false;
}

size_t roster_named(struct sim *sim, const struct roster *roster, bool lies)
{
    struct rm *rm = &sim->rm;
    int64_t *since = &rm->lacking_ms[roster->cluster];
    size_t named = roster->count;
    if (lies && named > 0 && sim->pieces == NULL &&
        (*since == 0 || sim->now_ms - *since < sim->config.sync_grace_ms)) {
        named = rng_below(&rm->rng, (uint32_t)named);
        sim_trace(sim, "rm: it names %zu of %zu jobs", named, roster->count);
    }
    if (!lacks_one(rm, roster, named))
        *since = 0;
    else if (*since == 0)
        *since = sim->now_ms;
    return named;
}
