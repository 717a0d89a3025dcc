/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/jobpoll.h"

#include "base/memory.h"

#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

static uint32_t cluster_index(const struct sim *sim, const char *name)
{
    uint32_t i = 0;
    while (strcmp(sim->profile.config.clusters[i].name, name) != 0)
        i++;
    return i;
}

static void take_out(struct sim *sim, struct jobpoll *roll)
{
    struct jobpoll **at = &sim->rm.jobpolls;
    while (*at != roll)
        at = &(*at)->next;
    *at = roll->next;
    jobview_release(&roll->jobview);
    free(roll);
}

/* An old view can still be younger than the grace period; an older one would be no view at all. */
static const struct jobview *view(struct sim *sim, const struct jobpoll *roll)
{
    const struct jobview *last = &sim->rm.jobviews[roll->jobview.cluster];
    bool old = last->active && sim->now_ms - last->taken_ms < sim->config.sync_grace_ms;
    if (!old || !fault_happens(&sim->faults, FAULT_ROLL_OLD, &sim->rm.rng))
        return &roll->jobview;
    return last;
}

static void answers(struct sim *sim, void *what, uint64_t mark)
{
    struct jobpoll *roll = what;
    struct rm *rm = &sim->rm;
    (void)mark;
    if (sim->edge.core && roll->process == sim->edge.process) {
        const struct jobview *seen = view(sim, roll);
        struct core_event event = {.kind = CORE_JOBPOLL_DONE};
        event.u.jobpoll.id = roll->id;
        event.u.jobpoll.active = seen->active;
        event.u.jobpoll.ok = !roll->fails;
        if (roll->fails) { /* it may have printed some before */
            event.u.jobpoll.count =
                seen->count > 0 ? rng_below(&rm->rng, (uint32_t)seen->count) : 0;
            event.u.jobpoll.words = "exit status 1";
        } else {
            bool lies = fault_happens(&sim->faults, FAULT_ROLL_LIES, &rm->rng);
            event.u.jobpoll.count = roll->stale ? seen->count : jobview_named(sim, seen, lies);
        }
        edge_jobpoll_done(sim, &event);
    }
    struct jobview *last = &rm->jobviews[roll->jobview.cluster];
    jobview_release(last);
    *last = roll->jobview;
    roll->jobview.active = NULL;
    take_out(sim, roll);
}

static void looks(struct sim *sim, void *what, uint64_t answers_in_ms)
{
    struct jobpoll *roll = what;
    jobview_take(sim, &roll->jobview, roll->jobview.cluster);
    sim_later(sim, (int64_t)answers_in_ms, answers, roll, 0);
}

void jobpoll_ask(struct sim *sim, uint64_t id, const char *cluster)
{
    struct rm *rm = &sim->rm;
    struct jobpoll *roll = memory_zeroed(sizeof *roll);
    int64_t takes = rng_between(&rm->rng, 0, sim->profile.net_ms);
    if (fault_happens(&sim->faults, FAULT_ROLL_SLOW, &rm->rng))
        takes = rng_between(&rm->rng, 0, 4 * sim->config.sync_grace_ms);
    int64_t looks_in = rng_between(&rm->rng, 0, takes);
    roll->fails = fault_happens(&sim->faults, FAULT_ROLL_FAILS, &rm->rng);
    roll->id = id;
    roll->stale = id <= rm->jobpoll_stale;
    roll->process = sim->edge.process;
    roll->jobview.cluster = cluster_index(sim, cluster);
    roll->next = rm->jobpolls;
    rm->jobpolls = roll;
    sim->result.jobpolls++;
    sim_trace(sim, "rm: %s is asked which of its jobs are active", cluster);
    sim_later(sim, looks_in, looks, roll, (uint64_t)(takes - looks_in));
}

void jobpoll_distrust(struct sim *sim)
{
    for (struct jobpoll *roll = sim->rm.jobpolls; roll; roll = roll->next)
        roll->stale = true;
    sim->rm.jobpoll_stale = sim->rm.jobpoll_wanted; /* some still wait for the disk */
    /* Nor is what is half said heard to its end: what was true of it is to be said once more before
     * anybody lies again. */
    for (size_t i = 0; sim->pieces && i < CLUSTERS_MAX; i++)
        if (sim->rm.lacking_ms[i] == 0)
            sim->rm.lacking_ms[i] = 1;
}

void jobpoll_release(struct sim *sim)
{
    while (sim->rm.jobpolls)
        take_out(sim, sim->rm.jobpolls);
    for (size_t i = 0; i < CLUSTERS_MAX; i++)
        jobview_release(&sim->rm.jobviews[i]);
}
