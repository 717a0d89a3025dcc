/* SPDX-License-Identifier: Apache-2.0 */
/* Clients of several brokers: which one they ask, and what one may tell them (I9, I10). */
#include "tests/sim/brokers.h"

#include "core/reservation/reservation.h"
#include "tests/sim/sim.h"

#include <string.h>

enum {
    HOPS_MAX = 12,
    HOP_MAX_MS = 400, /* a client's wait before it asks the next one */
    READ_EVERY_MAX_MS = 400,
    READ_TRIES_MAX = 40, /* while something is being saved */
    GHOST_TICK_MS = 50,
};

/* Where a broker that does not lead sends its clients. */
static uint32_t next_of(struct sim *sim, uint32_t at)
{
    const struct brokers *brokers = &sim->brokers;
    const struct leader *leader = &brokers->all[at].leader;
    for (uint32_t i = 0; i < brokers->count; i++)
        if (brokers->all[at].alive && i != at && leader->holder != 0 &&
            brokers->all[i].leader.lease == leader->holder)
            return i;
    return (at + 1) % brokers->count;
}

/* ---- one that has led ---- */

/* What it lets out although its lease is over. */
static void ghost_steps(struct sim *sim, struct broker *broker, struct core_event *event)
{
    size_t count;
    event->now_ms = sim->now_ms + broker->clock_ms;
    core_step(broker->ghost, event);
    const struct effect *effects = core_effects(broker->ghost, &count);
    for (size_t i = 0; i < count; i++)
        broker->ghost_unsaved |= effects[i].kind == EFFECT_SAVE;
    for (size_t i = 0; i < count && !broker->ghost_unsaved; i++)
        if (effects[i].kind == EFFECT_ANSWER || effects[i].kind == EFFECT_CALL)
            sim_fail(sim, "I10", "broker %d, whose lease is over, %s",
                     (int)(broker - sim->brokers.all),
                     effects[i].kind == EFFECT_CALL ? "calls the fabric manager" : "answers");
}

static void ghost_ticks(struct sim *sim, void *what, uint64_t life)
{
    struct broker *broker = what;
    if (!broker->alive || broker->life != life || !broker->ghost || broker->paused ||
        !brokers_may_act(sim, broker))
        return;
    ghost_steps(sim, broker, &(struct core_event){.kind = CORE_TICK});
    sim_later(sim, GHOST_TICK_MS, ghost_ticks, broker, life);
}

void brokers_ghost_runs(struct sim *sim, struct broker *broker)
{
    ghost_ticks(sim, broker, broker->life);
}

/* ---- requests ---- */

static bool is_taken(struct sim *sim, uint32_t at, struct request *request)
{
    struct broker *broker = &sim->brokers.all[at];
    if (!broker->alive || broker->paused || !brokers_may_act(sim, broker))
        return false;
    sim->brokers.believed[request->cluster] = at;
    if (brokers_leader(sim) == broker)
        return true;
    struct core_event event;
    rm_event(sim, request, &event);
    if (broker->ghost)
        ghost_steps(sim, broker, &event);
    return false;
}

/* What is true at a moment only is asked of all brokers at once: a list of jobs is no older than
 * the grace period, and a node that is fenced may be used again a moment later. */
static bool may_wait(const struct request *request)
{
    return request->kind != REQUEST_SYNC && request->kind != REQUEST_FENCE;
}

enum brokers_route brokers_route(struct sim *sim, struct request *request,
                                 void (*arrive)(struct sim *sim, void *what, uint64_t mark))
{
    struct brokers *brokers = &sim->brokers;
    if (brokers->count == 0)
        return ROUTE_HERE;
    if (request->hops == 0)
        request->broker = brokers->believed[request->cluster];
    const uint32_t at =
        may_wait(request) || brokers->leads < 0 ? request->broker : (uint32_t)brokers->leads;
    if (is_taken(sim, at, request))
        return ROUTE_HERE;
    if (!may_wait(request) || ++request->hops > HOPS_MAX)
        return ROUTE_NOWHERE;
    request->broker = next_of(sim, at);
    sim_later(sim, rng_between(&brokers->rng, 0, HOP_MAX_MS), arrive, request, 0);
    return ROUTE_ON;
}

/* ---- reads ---- */

static const struct reservation_record *in_ledger(const struct sim *sim, const char *cluster,
                                                  const char *job)
{
    for (size_t at = sim->disk.reservation_count; at > 0; at--) {
        const struct reservation_record *r = &sim->disk.reservations[at - 1]->u.reservation;
        if (strcmp(r->cluster, cluster) == 0 && strcmp(r->job, job) == 0)
            return r;
    }
    return NULL;
}

/* I9: what is shown is what is in the ledger at this moment, so all that was acknowledged before,
 * by whatever broker; and what was shown once never goes back. */
static void shows(struct sim *sim, const struct broker *broker, const struct core *core,
                  const char *cluster, const char *job)
{
    const struct reservation *r = core_find(core, cluster, job);
    const struct reservation_record *saved = in_ledger(sim, cluster, job);
    const bool same =
        !r == !saved && (!r || (r->number == saved->number && r->state == saved->state &&
                                r->hwcoll == saved->hwcoll && r->vni_count == saved->vni_count));
    const int who = (int)(broker - sim->brokers.all);
    brokers_count(sim, BROKER_READS);
    if (!same)
        sim_fail(sim, "I9",
                 "broker %d shows number %llu (%s) for %s-%s, in the ledger it is %llu (%s)", who,
                 r ? (unsigned long long)r->number : 0, r ? job_state_word(r->state) : "none",
                 cluster, job, saved ? (unsigned long long)saved->number : 0,
                 saved ? job_state_word(saved->state) : "none");
    else if (sim->cluster.holder != broker->leader.lease)
        sim_fail(sim, "I10", "broker %d shows %s-%s, and its lease is over", who, cluster, job);
}

/* False: what it would show is not saved yet. */
static bool is_served(struct sim *sim, struct broker *broker, uint32_t cluster, const char *job)
{
    const bool leads = brokers_leader(sim) == broker;
    const struct core *core = leads ? sim->edge.core : broker->ghost;
    const bool may = brokers_may_act(sim, broker) || sim->profile.plant == PLANT_READ_LATE;
    if (!core || !may || broker->ghost_unsaved) {
        sim->brokers.believed[cluster] = next_of(sim, (uint32_t)(broker - sim->brokers.all));
        return true;
    }
    if (leads && !journal_idle(&sim->journal))
        return false;
    shows(sim, broker, core, sim->config.clusters[cluster].name, job);
    return true;
}

void brokers_read_waiting(struct sim *sim, struct broker *broker)
{
    for (size_t i = 0; i < broker->read_count; i++)
        (void)is_served(sim, broker, broker->reads[i].cluster, broker->reads[i].job);
    broker->read_count = 0;
}

static void reads(struct sim *sim, void *what, uint64_t tries)
{
    struct job *job = what;
    struct brokers *brokers = &sim->brokers;
    struct broker *broker = &brokers->all[brokers->believed[job->cluster]];
    if (tries > READ_TRIES_MAX)
        return;
    if (!broker->alive)
        brokers->believed[job->cluster] = (brokers->believed[job->cluster] + 1) % brokers->count;
    else if (broker->paused && broker->read_count < BROKER_READS_MAX) {
        broker->reads[broker->read_count].cluster = job->cluster;
        broker->reads[broker->read_count++].job = job->id;
        brokers->believed[job->cluster] = (brokers->believed[job->cluster] + 1) % brokers->count;
    } else if (!broker->paused && !is_served(sim, broker, job->cluster, job->id))
        sim_later(sim, HOP_MAX_MS / 4, reads, job, tries + 1);
}

static void reads_on(struct sim *sim, void *what, uint64_t storm)
{
    struct rng *rng = &sim->brokers.rng;
    (void)what;
    if (sim->phase != PHASE_STORM || sim->calm != storm)
        return;
    reads(sim, sim->rm.jobs[rng_below(rng, (uint32_t)sim->rm.job_count)], 0);
    sim_later(sim, rng_between(rng, 1, READ_EVERY_MAX_MS), reads_on, NULL, storm);
}

void brokers_clients_storm(struct sim *sim)
{
    reads_on(sim, NULL, sim->calm);
}
