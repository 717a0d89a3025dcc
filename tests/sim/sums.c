/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/sums.h"

#include "tests/sim/grow.h"
#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

enum { GATHER_MS = 3000, AGAIN_MS = 4000, LATE_MS = 90000 };

void sums_init(struct sim *sim, struct job *job, uint32_t serial)
{
    rng_init_for(&job->sums.rng, sim->profile.seed, "sums", serial);
    job->sums.wanted = rng_chance(&job->sums.rng, sim->profile.sums);
}

void sums_release(struct job *job)
{
    free(job->sums.all);
}

/* ---- what is told ---- */

static void send(struct sim *sim, struct job *job, const struct summing *of, enum node_state state,
                 uint32_t mask)
{
    struct rng *rng = &job->sums.rng;
    struct request *request = rm_request(sim, REQUEST_SUM, job);
    struct sum *sum = &request->sum;
    *sum = (struct sum){.mask = mask, .number = of->number, .epoch = of->epoch, .state = state};
    hosts_name_some(sim, job, mask, sum->nodes, sizeof sum->nodes);
    for (uint32_t i = 0; i < HOSTS_MAX && state == NODE_LINGERING; i++) {
        struct host *host = &job->hosts[i];
        if (mask >> i & 1) { /* it may arrive after the node's own word, and count */
            host->doubted = host->in_wind = of->number;
            host->untellable = true;
            if (host->heard_clean == of->number)
                host->heard_clean = 0;
        }
    }
    bool late = fault_happens(&sim->faults, FAULT_WORD_LATE, rng);
    rm_send(sim, request, rng_between(rng, 0, late ? LATE_MS : sim->profile.net_ms));
    sim->result.sums++;
}

static void tell(struct sim *sim, void *what, uint64_t which)
{
    struct job *job = what;
    struct rng *rng = &job->sums.rng;
    struct summing *of = &job->sums.all[which];
    bool again = rng_chance(rng, 100); /* what was told before, too */
    uint32_t told = again ? 0 : of->told_clean;
    uint32_t clean = of->clean & ~told, lingering = of->lingering & ~of->told_lingering;
    uint32_t some = rng_chance(rng, 300) ? (uint32_t)rng_next(rng) : UINT32_MAX;
    of->armed = job->unreleased && job->stage == STAGE_STARTING;
    if (of->armed) { /* is it the same reservation again? */
        sim_later(sim, AGAIN_MS, tell, job, which);
        return;
    }
    if (sim->profile.plant == PLANT_SUM_OF_DEAD)
        clean = of->nodes;
    if (clean & some)
        send(sim, job, of, NODE_DESTROYED, clean & some);
    if (lingering)
        send(sim, job, of, NODE_LINGERING, lingering);
    if ((of->clean & ~of->told_clean) == 0 && lingering == 0)
        return;
    of->armed = true;
    sim_later(sim, rng_between(rng, AGAIN_MS, 2 * AGAIN_MS), tell, job, which);
}

static struct summing *find(struct job *job, uint64_t number, uint32_t epoch)
{
    struct sums *sums = &job->sums;
    for (size_t i = 0; i < sums->count; i++)
        if (sums->all[i].number == number && sums->all[i].epoch == epoch)
            return &sums->all[i];
    GROW(sums->all, sums->count, sums->room);
    struct summing *of = &sums->all[sums->count++];
    *of = (struct summing){.number = number, .epoch = epoch};
    return of;
}

void sums_forget(struct job *job, uint64_t number)
{
    for (size_t i = 0; i < job->sums.count; i++) {
        struct summing *of = &job->sums.all[i];
        if (of->number == number)
            of->clean = of->lingering = of->told_clean = of->told_lingering = 0;
    }
}

static void add(struct sim *sim, const struct host *host, uint64_t number, enum node_state state)
{
    struct job *job = host->job;
    bool own = host->number == number;
    struct summing *of = find(job, number, own ? host->epoch : sim->model.epoch);
    uint32_t bit = (uint32_t)1 << (host - job->hosts);
    *(state == NODE_DESTROYED ? &of->clean : &of->lingering) |= bit;
    if (of->nodes == 0 && job->wanted.node_count <= HOSTS_MAX) /* for the next life, perhaps */
        of->nodes = ((uint32_t)1 << job->wanted.node_count) - 1;
    if (of->armed)
        return;
    of->armed = true;
    sim_later(sim, rng_between(&job->sums.rng, 0, GATHER_MS), tell, job,
              (uint64_t)(of - job->sums.all));
}

bool sums_ended(struct sim *sim, const struct host *host, uint64_t number, enum node_state state)
{
    struct job *job = host->job;
    bool runs = job->stage == STAGE_RUNNING && job->number == number; /* again: of an earlier one */
    if (!job->sums.wanted || runs)
        return false;
    add(sim, host, number, state);
    return true;
}

void sums_lingers(struct sim *sim, const struct host *host, uint64_t number)
{
    struct job *job = host->job;
    if (job->sums.wanted && host->ended_number == number && rng_chance(&job->sums.rng, 300))
        add(sim, host, number, NODE_DESTROYED);
}

/* ---- to the core and back ---- */

/* A ledger that went back does not know that a node has said since that services linger: the sum
 * counts, and the number may be another reservation's. 0: it was not taken. */
static void mishear(const struct sim *sim, const struct request *request, uint64_t number)
{
    for (uint32_t i = 0; i < HOSTS_MAX && request->sum.epoch != sim->model.epoch; i++)
        if (request->sum.mask >> i & 1)
            request->job->hosts[i].misheard = number;
}

void sums_event(const struct sim *sim, const struct request *request, struct core_event *event)
{
    event->kind = CORE_NODE_SUM;
    event->ticket = request->ticket;
    event->u.sum.cluster = sim->config.clusters[request->cluster].name;
    event->u.sum.job = request->job->id;
    event->u.sum.number = request->sum.number;
    event->u.sum.nodes = request->sum.nodes;
    event->u.sum.state = request->sum.state;
    mishear(sim, request, request->sum.number);
}

void sums_heard(struct sim *sim, const struct request *request, const struct told *told,
                uint64_t batch)
{
    const struct sum *sum = &request->sum;
    struct entry *e = model_at(sim, sum->number);
    bool other = sum->epoch != sim->model.epoch;
    if (e && (e->job != request->job || sum->epoch != e->epoch))
        e = NULL; /* its number has been given out again */
    if (e && told->kind == ANSWER_REPORTED && !e->reported_batch)
        e->reported_batch = batch;
    if (told->kind != ANSWER_REPORTED)
        mishear(sim, request, 0);
    bool gone = told->kind == ANSWER_NOT_FOUND && (!e || e->gone_batch);
    const struct reservation_record *saved = disk_find(&sim->disk, sum->number);
    bool adopted =
        told->kind == ANSWER_INVALID && saved && !saved->nodes;          /* its nodes: not known */
    adopted |= told->kind == ANSWER_INVALID && e && rewind_gave(sim, e); /* … or the lost one's */
    if (!other && told->kind != ANSWER_REPORTED && !gone && !adopted)
        sim_fail(sim, "answers", "a sum of %s for number %llu was answered: %s", sum->nodes,
                 (unsigned long long)sum->number, answer_word(told->kind));
}

void sums_answered(struct sim *sim, const struct request *request)
{
    const struct sum *sum = &request->sum;
    struct summing *of = find(request->job, sum->number, sum->epoch);
    *(sum->state == NODE_DESTROYED ? &of->told_clean : &of->told_lingering) |= sum->mask;
    if (request->told.kind != ANSWER_REPORTED || sum->epoch != sim->model.epoch)
        return;
    for (uint32_t i = 0; i < HOSTS_MAX; i++)
        if (sum->mask >> i & 1)
            hosts_summed(&request->job->hosts[i], sum->number, sum->state);
}
