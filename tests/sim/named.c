/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/named.h"

#include "core/core.h"
#include "core/reservation/reservation.h"
#include "core/reservation/vnipool.h"
#include "tests/sim/sim.h"

void named_draw(const struct sim *sim, struct job *job)
{
    struct wanted *wanted = &job->wanted;
    const struct idset *pool = &sim->config.vni_pool;
    struct rng rng;
    rng_init_for(&rng, sim->profile.seed ^ name_hash(rm_cluster_name(sim, job), job->id), "named",
                 job->life);
    if (wanted->interconnect != INTERCONNECT_SLINGSHOT || wanted->shared_count > 0 ||
        job->by_plugin || !rng_chance(&rng, sim->profile.named))
        return;
    const unsigned count = 1 + rng_below(&rng, 2);
    const uint32_t first = rng_below(&rng, UINT16_MAX);
    for (uint32_t i = 0; i <= UINT16_MAX && wanted->named_count < count; i++) {
        const uint16_t vni = (uint16_t)(first + i);
        if (idset_has(pool, vni) && !vnipool_is_systems(vni))
            wanted->named[wanted->named_count++] = vni;
    }
    if (wanted->named_count == 0)
        return;
    wanted->vni_count = (int)wanted->named_count;
    job->names_vnis = true;
}

void named_event(const struct request *request, struct reserve_request *reserve)
{
    const struct wanted *wanted = &request->wanted;
    reserve->vnis_named = wanted->named_count > 0;
    for (unsigned i = 0; i < wanted->named_count; i++)
        reserve->vnis[i] = wanted->named[i];
}

void named_granted(struct sim *sim, const struct request *request, const struct told *told)
{
    const struct wanted *wanted = &request->wanted;
    for (unsigned i = 0; i < wanted->named_count && !request->other; i++)
        if (told->vni_count != wanted->named_count || told->vnis[i] != wanted->named[i])
            sim_fail(sim, "F1", "%s has VNI %u, and was granted others", request->job->id,
                     wanted->named[i]);
}

/* Not while the ledger is suspect: what seems to be free may be in use. A shared VNI whose time is
 * over is free at the end of the step, after all answers. */
void named_refused(struct sim *sim, const struct request *request, const struct told *told)
{
    const struct wanted *wanted = &request->wanted;
    const struct job *job = request->job;
    const struct reservation *r = core_find(sim->edge.core, rm_cluster_name(sim, job), job->id);
    if (r && r->state == JOB_ACTIVE) /* of its last life, with others */
        return;
    bool free = wanted->named_count > 0 && !request->other && shares_gone_now(sim) == 0;
    for (unsigned i = 0; i < wanted->named_count; i++) {
        const uint16_t vni = wanted->named[i];
        free &= model_nobody_has(sim, vni, 0) && !shares_has(sim, vni) &&
                !shares_foreign(sim, vni) && !idset_has(&sim->shares.known, vni);
    }
    if (free && !sim->edge.suspect && !admin_sees(sim, ALARM_OLD_LEDGER, NULL))
        sim_fail(sim, "F1", "%s has VNI %u, which no other job has, and was answered: %s", job->id,
                 wanted->named[0], answer_word(told->kind));
}
