/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/admin.h"

#include "core/reservation/reservation.h"
#include "tests/sim/rewind.h"
#include "tests/sim/sim.h"

#include <string.h>

enum { LOOKS_EVERY_MS = 10000 };

bool admin_sees(const struct sim *sim, enum alarm_kind kind, const char *cluster)
{
    const struct alarm *alarm = sim->edge.core ? core_alarms(sim->edge.core) : NULL;
    for (; alarm; alarm = alarm->next)
        if (alarm->kind == kind &&
            (!cluster || !alarm->cluster || strcmp(alarm->cluster, cluster) == 0))
            return true;
    return false;
}

/* ---- what is true ---- */

struct comparison {
    const struct fabric *fabric;
    bool lost;
};

static void compare(void *arg, const struct reservation *r)
{
    struct comparison *c = arg;
    char name[FM_NAME_MAX + 1];
    if (r->state != JOB_ACTIVE || r->hwcoll != HWCOLL_RESERVED)
        return;
    fm_name_format(name, r->cluster, r->job);
    const struct object *object = fabric_find(c->fabric, name);
    c->lost |=
        !object || (!secret_none(r->token) && strcmp(secret_expose(r->token), object->token) != 0);
}

/* He compares the broker's list with the fabric manager's. */
static bool is_lost(const struct sim *sim)
{
    struct comparison c = {.fabric = &sim->fabric};
    struct core_filter filter = {.uid = -1, .limit = 1000};
    do
        filter.after = core_page(sim->edge.core, &filter, compare, &c);
    while (filter.after != 0);
    return c.lost;
}

bool admin_can_tell(const struct sim *sim, const char *cluster)
{
    return !slurm_has_any(sim, cluster) && !sim->secondbroker.present &&
           !secondbroker_in(sim, cluster) && !rewind_unknown(sim);
}

/* ---- what he does about it ---- */

static void say(struct sim *sim, enum request_kind kind, uint32_t cluster)
{
    struct request *request = rm_request(sim, kind, NULL);
    request->cluster = cluster;
    rm_send(sim, request, 0);
}

static void look(struct sim *sim, void *what, uint64_t mark)
{
    (void)what;
    if (sim->phase == PHASE_STORM || mark != sim->calm)
        return;
    if (!sim->edge.core) {
        sim_later(sim, LOOKS_EVERY_MS, look, NULL, mark);
        return;
    }
    if (admin_sees(sim, ALARM_MASS_LOSS, NULL) && is_lost(sim))
        say(sim, REQUEST_ACCEPT_LOSS, 0);
    for (uint32_t i = 0; i < sim->config.cluster_count; i++) {
        const char *cluster = sim->config.clusters[i].name;
        bool asks = admin_sees(sim, ALARM_NAME_CONFLICT, cluster) ||
                    admin_sees(sim, ALARM_OLD_LEDGER, cluster);
        if (asks && admin_can_tell(sim, cluster))
            say(sim, REQUEST_CLAIM, i);
    }
    sim_later(sim, LOOKS_EVERY_MS, look, NULL, mark);
}

static void probe(struct sim *sim, void *what, uint64_t mark)
{
    struct rng *rng = &sim->doctor;
    (void)what;
    if (sim->phase != PHASE_STORM || mark != sim->calm)
        return;
    if (sim->edge.core)
        edge_piece(sim, &(struct core_event){.kind = CORE_PROBE});
    sim_later(sim, rng_chance(rng, 300) ? 0 : rng_between(rng, 1, LOOKS_EVERY_MS), probe, NULL,
              mark);
}

void admin_storm(struct sim *sim)
{
    rng_init_for(&sim->doctor, sim->profile.seed, "doctor", (uint32_t)sim->calm);
    if (rng_chance(&sim->doctor, 300))
        sim_later(sim, rng_between(&sim->doctor, 0, LOOKS_EVERY_MS), probe, NULL, sim->calm);
}

void admin_calm(struct sim *sim)
{
    /* What the broker was told before is old by then. */
    int64_t wait =
        2 * (sim->config.relist_ms + sim->config.stray_grace_ms) + 4 * sim->config.call_timeout_ms;
    sim_later(sim, wait, look, NULL, sim->calm);
}

void admin_event(const struct sim *sim, const struct request *request, struct core_event *event)
{
    if (request->kind == REQUEST_ACCEPT_LOSS) {
        event->kind = CORE_ACCEPT_LOSS;
        event->ticket = request->ticket;
        return;
    }
    event->kind = CORE_CLAIM;
    event->ticket = request->ticket;
    event->u.claim.cluster = sim->config.clusters[request->cluster].name;
}

void admin_heard(struct sim *sim, const struct request *request)
{
    if (request->kind == REQUEST_CLAIM)
        fabric_claimed(sim, sim->config.clusters[request->cluster].name);
}
