/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/secondbroker.h"

#include "tests/sim/sim.h"

#include <stdio.h>
#include <string.h>

void secondbroker_init(struct sim *sim)
{
    memset(&sim->secondbroker, 0, sizeof sim->secondbroker);
    rng_init(&sim->secondbroker.rng, sim->profile.seed, 11);
}

static void draw_own(struct sim *sim, char *name)
{
    uint32_t cluster = rng_below(&sim->secondbroker.rng, sim->config.cluster_count);
    char id[32];
    slurm_format_id(sim, cluster, "r", ++sim->secondbroker.last_job, id, sizeof id);
    fm_name_format(name, sim->config.clusters[cluster].name, id);
}

/* Of a job of its own, which may have the id of one that the broker had, or found. "": the broker
 * still has that one. */
static void draw_name(struct sim *sim, char *name)
{
    struct secondbroker *secondbroker = &sim->secondbroker;
    const struct job *job =
        sim->rm.jobs[rng_below(&secondbroker->rng, (uint32_t)sim->rm.job_count)];
    bool ours = rng_chance(&secondbroker->rng, 500);
    if (!ours)
        draw_own(sim, name);
    else
        fm_name_format(name, rm_cluster_name(sim, job), job->id);
    if (!edge_forgot(&sim->edge, name))
        name[0] = '\0';
}

static void reserves(struct sim *sim)
{
    struct secondbroker *secondbroker = &sim->secondbroker;
    char name[FM_NAME_MAX + 1];
    draw_name(sim, name);
    if (name[0] == '\0' || secondbroker->count == RIVAL_JOBS_MAX)
        return;
    struct object *object = fabric_add(sim, name, 1);
    if (!object) /* 409, or 507: its job runs without */
        return;
    struct secondbroker_job *job = &secondbroker->held[secondbroker->count++];
    object->unknown = true;
    strcpy(job->name, object->name);
    strcpy(job->token, object->token);
    fabric_is_alien(sim, name);
    sim_trace(sim, "rival: reserves %s", name);
}

/* It looks before it deletes. */
static void releases(struct sim *sim, size_t at)
{
    struct secondbroker *secondbroker = &sim->secondbroker;
    struct secondbroker_job job = secondbroker->held[at];
    const struct object *object = fabric_find(&sim->fabric, job.name);
    secondbroker->held[at] = secondbroker->held[--secondbroker->count];
    if (!object || strcmp(object->token, job.token) != 0)
        return;
    sim_trace(sim, "rival: releases %s", job.name);
    fabric_drop(sim, job.name);
}

static void acts(struct sim *sim, void *what, uint64_t visit)
{
    static const int64_t pauses[] = {500, 5000, 30000};
    struct secondbroker *secondbroker = &sim->secondbroker;
    struct rng *rng = &secondbroker->rng;
    (void)what;
    if (!secondbroker->present || secondbroker->visit != visit || sim->phase != PHASE_STORM)
        return;
    if (sim->fabric.up && (secondbroker->count == 0 || rng_chance(rng, 600)))
        reserves(sim);
    else if (sim->fabric.up)
        releases(sim, rng_below(rng, (uint32_t)secondbroker->count));
    sim_later(sim, rng_between(rng, 1, pauses[rng_below(rng, 3)]), acts, NULL, visit);
}

void secondbroker_leaves(struct sim *sim)
{
    struct secondbroker *secondbroker = &sim->secondbroker;
    if (!secondbroker->present)
        return;
    sim_trace(sim, "rival: goes");
    for (size_t at = secondbroker->count; at-- > 0;)
        if (rng_chance(&secondbroker->rng, 600))
            releases(sim, at);
    secondbroker->present = false;
    secondbroker->count = 0;
    secondbroker->visit++;
}

static void goes(struct sim *sim, void *what, uint64_t mark)
{
    (void)what, (void)mark;
    secondbroker_leaves(sim);
}

static void comes(struct sim *sim, void *what, uint64_t mark)
{
    struct secondbroker *secondbroker = &sim->secondbroker;
    (void)what, (void)mark;
    if (!fault_possible(&sim->faults, FAULT_RIVAL) || secondbroker->present)
        return;
    fault_count(&sim->faults, FAULT_RIVAL);
    sim_trace(sim, "rival: comes");
    secondbroker->present = true;
    acts(sim, NULL, ++secondbroker->visit);
}

void secondbroker_storm(struct sim *sim)
{
    struct secondbroker *secondbroker = &sim->secondbroker;
    struct rng *rng = &secondbroker->rng;
    int64_t storm = sim->profile.storm_ms, when = rng_between(rng, 0, storm);
    if (secondbroker->present) /* since a storm before */
        acts(sim, NULL, secondbroker->visit);
    if (rng_chance(rng, 400))
        sim_later(sim, when, comes, NULL, 0);
    if (rng_chance(rng, 500))
        sim_later(sim, rng_between(rng, when, storm), goes, NULL, 0);
}

bool secondbroker_in(const struct sim *sim, const char *cluster)
{
    char of[CLUSTER_NAME_MAX + 1];
    const char *job;
    for (size_t i = 0; i < sim->secondbroker.count; i++) {
        const struct secondbroker_job *held = &sim->secondbroker.held[i];
        const struct object *object = fabric_find(&sim->fabric, held->name);
        if (object && strcmp(object->token, held->token) == 0 &&
            fm_name_split(held->name, of, &job) && strcmp(of, cluster) == 0)
            return true;
    }
    return false;
}
