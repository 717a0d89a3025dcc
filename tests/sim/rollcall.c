/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/rollcall.h"

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

static void take_out(struct sim *sim, struct rollcall *roll)
{
    struct rollcall **at = &sim->rm.rollcalls;
    while (*at != roll)
        at = &(*at)->next;
    *at = roll->next;
    roster_release(&roll->roster);
    free(roll);
}

/* An old view can still be younger than the grace period; an older one would be no view at all. */
static const struct roster *view(struct sim *sim, const struct rollcall *roll)
{
    const struct roster *last = &sim->rm.rosters[roll->roster.cluster];
    bool old = last->active != NULL && sim->now_ms - last->taken_ms < sim->config.sync_grace_ms;
    if (!old || !fault_happens(&sim->faults, FAULT_ROLL_OLD, &sim->rm.rng))
        return &roll->roster;
    return last;
}

static void answers(struct sim *sim, void *what, uint64_t mark)
{
    struct rollcall *roll = what;
    struct rm *rm = &sim->rm;
    (void)mark;
    if (sim->edge.core != NULL && roll->process == sim->edge.process) {
        const struct roster *seen = view(sim, roll);
        struct core_event event = {.kind = CORE_ROLLCALL_DONE};
        event.u.rollcall.id = roll->id;
        event.u.rollcall.active = seen->active;
        event.u.rollcall.ok = !roll->fails;
        if (roll->fails) { /* it may have printed some before */
            event.u.rollcall.count =
                seen->count > 0 ? rng_below(&rm->rng, (uint32_t)seen->count) : 0;
            event.u.rollcall.words = "exit status 1";
        } else {
            bool lies = fault_happens(&sim->faults, FAULT_ROLL_LIES, &rm->rng);
            event.u.rollcall.count = roll->stale ? seen->count : roster_named(sim, seen, lies);
        }
        edge_rollcall_done(sim, &event);
    }
    struct roster *last = &rm->rosters[roll->roster.cluster];
    roster_release(last);
    *last = roll->roster;
    roll->roster.active = NULL;
    take_out(sim, roll);
}

static void looks(struct sim *sim, void *what, uint64_t answers_in_ms)
{
    struct rollcall *roll = what;
    roster_take(sim, &roll->roster, roll->roster.cluster);
    sim_later(sim, (int64_t)answers_in_ms, answers, roll, 0);
}

void rollcall_ask(struct sim *sim, uint64_t id, const char *cluster)
{
    struct rm *rm = &sim->rm;
    struct rollcall *roll = memory_zeroed(sizeof *roll);
    int64_t takes = rng_between(&rm->rng, 0, sim->profile.net_ms);
    if (fault_happens(&sim->faults, FAULT_ROLL_SLOW, &rm->rng))
        takes = rng_between(&rm->rng, 0, 4 * sim->config.sync_grace_ms);
    int64_t looks_in = rng_between(&rm->rng, 0, takes);
    roll->fails = fault_happens(&sim->faults, FAULT_ROLL_FAILS, &rm->rng);
    roll->id = id;
    roll->stale = id <= rm->rollcall_stale;
    roll->process = sim->edge.process;
    roll->roster.cluster = cluster_index(sim, cluster);
    roll->next = rm->rollcalls;
    rm->rollcalls = roll;
    sim->result.rollcalls++;
    sim_trace(sim, "rm: %s is asked which of its jobs are active", cluster);
    sim_later(sim, looks_in, looks, roll, (uint64_t)(takes - looks_in));
}

void rollcall_distrust(struct sim *sim)
{
    for (struct rollcall *roll = sim->rm.rollcalls; roll != NULL; roll = roll->next)
        roll->stale = true;
    sim->rm.rollcall_stale = sim->rm.rollcall_wanted; /* some still wait for the disk */
    /* Nor is what is half said heard to its end: what was true of it is to be said once more before
     * anybody lies again. */
    for (size_t i = 0; sim->pieces != NULL && i < CLUSTERS_MAX; i++)
        if (sim->rm.lacking_ms[i] == 0)
            sim->rm.lacking_ms[i] = 1;
}

void rollcall_release(struct sim *sim)
{
    while (sim->rm.rollcalls != NULL)
        take_out(sim, sim->rm.rollcalls);
    for (size_t i = 0; i < CLUSTERS_MAX; i++)
        roster_release(&sim->rm.rosters[i]);
}
