/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/rewind.h"

#include "tests/sim/grow.h"
#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

void rewind_init(struct sim *sim)
{
    memset(&sim->rewind, 0, sizeof sim->rewind);
    rng_init(&sim->rewind.rng, sim->profile.seed, 12);
}

void rewind_release(struct sim *sim)
{
    struct rewind *rewind = &sim->rewind;
    if (rewind->taken && !rewind->done)
        disk_release(&rewind->kept);
    for (size_t i = 0; i < rewind->lost_count; i++)
        free(rewind->lost[i]);
    free(rewind->lost);
    memset(rewind, 0, sizeof *rewind);
}

/* ---- when ---- */

static void take(struct sim *sim, void *what, uint64_t mark)
{
    struct rewind *rewind = &sim->rewind;
    (void)what, (void)mark;
    if (!fault_possible(&sim->faults, FAULT_LEDGER_BACK) || rewind->taken)
        return;
    sim_trace(sim, "disk: a copy of it is made");
    disk_copy(&rewind->kept, &sim->disk);
    rewind->taken = true;
}

static void go_back(struct sim *sim, void *what, uint64_t mark)
{
    struct rewind *rewind = &sim->rewind;
    (void)what, (void)mark;
    if (!rewind->taken || rewind->done || !fault_possible(&sim->faults, FAULT_LEDGER_BACK))
        return;
    if (sim->edge.core)
        edge_die(sim);
    fault_count(&sim->faults, FAULT_LEDGER_BACK);
    sim_trace(sim, "disk: the copy takes its place");
    disk_release(&sim->disk);
    sim->disk = rewind->kept;
    rewind->done = true;
    rewind->last_number = sim->disk.last_number;
    model_rewound(sim);
    asks_rewound(sim);
    hosts_rewound(sim);
    nics_rewound(sim);
    fabric_rewound(sim);
    wire_rewound(sim);
}

void rewind_storm(struct sim *sim)
{
    struct rng *rng = &sim->rewind.rng;
    int64_t storm = sim->profile.storm_ms, taken = rng_between(rng, 0, storm - 1);
    if (!rng_chance(rng, 500))
        return;
    sim_later(sim, taken, take, NULL, 0);
    sim_later(sim, rng_between(rng, taken, storm - 1), go_back, NULL, 0);
}

/* ---- what it does not know ---- */

static bool has_again(const struct sim *sim, const char *name, bool to_delete)
{
    for (size_t i = 0; i < sim->disk.reservation_count; i++) {
        const struct reservation_record *r = &sim->disk.reservations[i]->u.reservation;
        bool stays = r->hwcoll == HWCOLL_RESERVED || r->origin == ORIGIN_FOUND;
        char of[FM_NAME_MAX + 1];
        fm_name_format(of, r->cluster, r->job);
        if (r->fm_side != FM_SIDE_NOTHING && !(to_delete && stays) && strcmp(of, name) == 0)
            return true;
    }
    return false;
}

bool rewind_has_again(const struct sim *sim, const char *name)
{
    return has_again(sim, name, false);
}

bool rewind_deletes(const struct sim *sim, const char *name)
{
    return has_again(sim, name, true);
}

bool rewind_gave(const struct sim *sim, const struct entry *again)
{
    for (size_t i = 0; i < sim->rewind.lost_count; i++) {
        const struct entry *lost = sim->rewind.lost[i];
        if (lost->number == again->number && lost->job == again->job && lost->told)
            return true;
    }
    return false;
}

bool rewind_in_use(const struct sim *sim, const struct entry *lost)
{
    const struct job *job = lost->job;
    if (!job || lost->vni_count == 0)
        return false;
    bool runs = job->active && job->epoch < sim->model.epoch && job->number == lost->number &&
                job->stage == STAGE_RUNNING;
    return runs || hosts_present(job, lost->number, lost->epoch);
}

bool rewind_unknown(const struct sim *sim)
{
    for (size_t i = 0; i < sim->rewind.lost_count; i++)
        if (rewind_in_use(sim, sim->rewind.lost[i]))
            return true;
    return false;
}

bool rewind_runs(const struct sim *sim, const char *cluster)
{
    for (size_t i = 0; i < sim->rm.job_count && sim->rewind.done; i++) {
        const struct job *job = sim->rm.jobs[i];
        if (job->active && !job->told && strcmp(rm_cluster_name(sim, job), cluster) == 0)
            return true;
    }
    return false;
}
