/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/epilogstorm.h"

#include "core/reservation/tombstones.h"
#include "tests/sim/sim.h"

enum { AT_ONCE = 50, APART_MS = 10 };

static void come(struct sim *sim, void *what, uint64_t left)
{
    (void)what;
    for (int i = 0; i < AT_ONCE && left > 0; i++, left--) {
        struct request *request = rm_request(sim, REQUEST_RELEASE, NULL);
        request->unknown_job = left;
        rm_send(sim, request, 0);
    }
    if (left > 0)
        sim_later(sim, APART_MS, come, NULL, left);
}

static void begin(struct sim *sim, void *what, uint64_t mark)
{
    (void)what, (void)mark;
    if (!fault_possible(&sim->faults, FAULT_CROWD))
        return;
    fault_count(&sim->faults, FAULT_CROWD);
    sim_trace(sim, "rm: a crowd of epilogs comes");
    come(sim, NULL, 2 * TOMBSTONES_MAX);
}

void epilogstorm_storm(struct sim *sim)
{
    struct rng rng;
    rng_init_for(&rng, sim->profile.seed, "crowd", sim->now_ms);
    if (rng_chance(&rng, 20))
        sim_later(sim, rng_between(&rng, 0, sim->profile.storm_ms), begin, NULL, 0);
}
