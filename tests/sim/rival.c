/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/rival.h"

#include "tests/sim/sim.h"

#include <stdio.h>
#include <string.h>

void rival_init(struct sim *sim)
{
    memset(&sim->rival, 0, sizeof sim->rival);
    rng_init(&sim->rival.rng, sim->profile.seed, 11);
}

static const char *any_cluster(struct sim *sim)
{
    return sim->config.clusters[rng_below(&sim->rival.rng, sim->config.cluster_count)].name;
}

/* Of a job of its own, which may have the id of one that the broker had. "": the broker
 * still has that one. */
static void draw_name(struct sim *sim, char *name)
{
    struct rival *rival = &sim->rival;
    const struct job *job = sim->rm.jobs[rng_below(&rival->rng, (uint32_t)sim->rm.job_count)];
    bool ours = rng_chance(&rival->rng, 500);
    if (!ours)
        snprintf(name, FM_NAME_MAX + 1, "%s-r%u", any_cluster(sim), ++rival->last_job);
    else
        fm_name_format(name, rm_cluster_name(sim, job), job->id);
    if (ours && !edge_forgot(&sim->edge, name))
        name[0] = '\0';
}

static void reserves(struct sim *sim)
{
    struct rival *rival = &sim->rival;
    char name[FM_NAME_MAX + 1];
    draw_name(sim, name);
    if (name[0] == '\0' || rival->count == RIVAL_JOBS_MAX)
        return;
    struct object *object = fabric_add(sim, name, 1);
    if (object == NULL) /* 409, or 507: its job runs without */
        return;
    struct rival_job *job = &rival->held[rival->count++];
    object->unknown = true;
    strcpy(job->name, object->name);
    strcpy(job->token, object->token);
    fabric_is_alien(sim, name);
    sim_trace(sim, "rival: reserves %s", name);
}

/* It looks before it deletes. */
static void releases(struct sim *sim, size_t at)
{
    struct rival *rival = &sim->rival;
    struct rival_job job = rival->held[at];
    const struct object *object = fabric_find(&sim->fabric, job.name);
    rival->held[at] = rival->held[--rival->count];
    if (object == NULL || strcmp(object->token, job.token) != 0)
        return;
    sim_trace(sim, "rival: releases %s", job.name);
    fabric_drop(sim, job.name);
}

static void acts(struct sim *sim, void *what, uint64_t visit)
{
    static const int64_t pauses[] = {500, 5000, 30000};
    struct rival *rival = &sim->rival;
    struct rng *rng = &rival->rng;
    (void)what;
    if (!rival->present || rival->visit != visit || sim->phase != PHASE_STORM)
        return;
    if (sim->fabric.up && (rival->count == 0 || rng_chance(rng, 600)))
        reserves(sim);
    else if (sim->fabric.up)
        releases(sim, rng_below(rng, (uint32_t)rival->count));
    sim_later(sim, rng_between(rng, 1, pauses[rng_below(rng, 3)]), acts, NULL, visit);
}

void rival_leaves(struct sim *sim)
{
    struct rival *rival = &sim->rival;
    if (!rival->present)
        return;
    sim_trace(sim, "rival: goes");
    for (size_t at = rival->count; at-- > 0;)
        if (rng_chance(&rival->rng, 600))
            releases(sim, at);
    rival->present = false;
    rival->count = 0;
    rival->visit++;
}

static void goes(struct sim *sim, void *what, uint64_t mark)
{
    (void)what, (void)mark;
    rival_leaves(sim);
}

static void comes(struct sim *sim, void *what, uint64_t mark)
{
    struct rival *rival = &sim->rival;
    (void)what, (void)mark;
    if (!fault_possible(&sim->faults, FAULT_RIVAL) || rival->present)
        return;
    fault_count(&sim->faults, FAULT_RIVAL);
    sim_trace(sim, "rival: comes");
    rival->present = true;
    acts(sim, NULL, ++rival->visit);
}

void rival_storm(struct sim *sim)
{
    struct rival *rival = &sim->rival;
    struct rng *rng = &rival->rng;
    int64_t storm = sim->profile.storm_ms, when = rng_between(rng, 0, storm);
    if (rival->present) /* since a storm before */
        acts(sim, NULL, rival->visit);
    if (rng_chance(rng, 400))
        sim_later(sim, when, comes, NULL, 0);
    if (rng_chance(rng, 500))
        sim_later(sim, rng_between(rng, when, storm), goes, NULL, 0);
}

bool rival_in(const struct sim *sim, const char *cluster)
{
    char of[CLUSTER_NAME_MAX + 1];
    const char *job;
    for (size_t i = 0; i < sim->rival.count; i++) {
        const struct rival_job *held = &sim->rival.held[i];
        const struct object *object = fabric_find(&sim->fabric, held->name);
        if (object != NULL && strcmp(object->token, held->token) == 0 &&
            fm_name_split(held->name, of, &job) && strcmp(of, cluster) == 0)
            return true;
    }
    return false;
}
