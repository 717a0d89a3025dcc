/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/launch.h"

#include "core/reservation/reservation.h"
#include "tests/sim/grow.h"
#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

enum {
    ASKS_MAX = 3,
    ASK_TIMEOUT_MS = 3000,
    LATE_MS = 120000,
    LEFT_OUT = 50,   /* in a thousand, by a job: no hook runs on some of its nodes */
    UNREADABLE = 50, /* in a thousand, by a node: the broker is asked */
    ASKERS_MAX = 4,
};

void launch_init(struct sim *sim, struct job *job, uint32_t serial)
{
    rng_init_for(&job->launches.rng, sim->profile.seed, "launches", serial);
    rng_init_for(&job->launches.dice, sim->profile.seed, "askers", serial);
}

void launch_release(struct job *job)
{
    free(job->launches.documents);
}

static void asker_asks(struct sim *sim, void *what, uint64_t life)
{
    struct job *job = what;
    struct request *request = rm_request(sim, REQUEST_LAUNCH, job);
    request->life = (uint32_t)life;
    rm_send(sim, request, rng_between(&job->launches.dice, 0, sim->profile.net_ms));
}

void launch_draw(struct sim *sim, struct job *job)
{
    struct launches *launches = &job->launches;
    struct rng *rng = &launches->dice;
    launches->wanted = rng_chance(&launches->rng, sim->profile.launches);
    launches->later = rng_chance(&launches->rng, 300) && launches->wanted;
    if (!rng_chance(rng, sim->profile.askers))
        return;
    for (uint32_t left = 1 + rng_below(rng, ASKERS_MAX); left > 0; left--) {
        bool early = rng_chance(rng, 600);
        int64_t latest = early ? profile_longest_wait(&sim->config) : sim->profile.run_ms + LATE_MS;
        sim_later(sim, rng_between(rng, 0, latest), asker_asks, job, job->life);
    }
}

/* ---- the broker's edge ---- */

void launch_judge(struct sim *sim, const struct reservation *r, struct told *told)
{
    const struct entry *e = r ? model_entry(&sim->model, r->number) : NULL;
    enum launch_verdict verdict = r ? core_judge_launch(sim->edge.core, r) : LAUNCH_NEVER;
    bool by_time = sim->profile.plant == PLANT_DOCUMENT_BY_TIME && r && r->state == JOB_ACTIVE;
    told->launch = verdict == LAUNCH_ALLOWED || (verdict == LAUNCH_NEVER && by_time);
    if (verdict == LAUNCH_ALLOWED && e && e->reported_batch)
        sim_fail(sim, "I1", "a launch document of number %llu is made, a node has reported of it",
                 (unsigned long long)e->number);
}

/* Only while the job has not ended meanwhile. */
void launch_leaves(struct sim *sim, struct request *request)
{
    struct told *told = &request->told;
    const struct job *job = request->job;
    bool wanted = request->kind == REQUEST_LAUNCH || request->launch;
    struct entry *e = model_at(sim, told->number);
    const struct reservation *r =
        job && sim->edge.core ? core_find(sim->edge.core, rm_cluster_name(sim, job), job->id)
                              : NULL;
    told->launch &= wanted && e && r && r->number == told->number && r->state == JOB_ACTIVE;
    if (!told->launch)
        return;
    e->document = true;
    request->job->launches.arrives_ms = sim->now_ms + sim->profile.net_ms;
    sim->result.documents++;
}

/* ---- the resource manager ---- */

static void ask(struct sim *sim, void *what, uint64_t mark)
{
    struct job *job = what;
    uint32_t life = (uint32_t)mark, asked = (uint32_t)(mark >> 32);
    if (job->stage != STAGE_RUNNING || job->life != life || !job->launches.later)
        return;
    if (asked == ASKS_MAX) {
        job->launches.later = false;
        hosts_ask(sim, job);
        return;
    }
    rm_send(sim, rm_request(sim, REQUEST_LAUNCH, job),
            rng_between(&job->launches.rng, 0, sim->profile.net_ms));
    sim_later(sim, ASK_TIMEOUT_MS, ask, job, (uint64_t)(asked + 1) << 32 | life);
}

static struct document *keep(struct sim *sim, struct job *job, const struct told *told)
{
    struct launches *launches = &job->launches;
    GROW(launches->documents, launches->count, launches->room);
    struct document *document = &launches->documents[launches->count++];
    *document = (struct document){.number = told->number,
                                  .epoch = told->epoch,
                                  .life = job->life,
                                  .vni_count = told->vni_count,
                                  .issued_ms = sim->now_ms};
    memcpy(document->vnis, told->vnis, sizeof document->vnis);
    const struct entry *e = model_entry(&sim->model, told->number);
    document->node_count = e ? e->node_count : job->wanted.node_count;
    return document;
}

static void prolog(struct sim *sim, void *what, uint64_t mark);

/* With the newest document that it has. */
static void start_nodes(struct sim *sim, struct job *job)
{
    struct launches *launches = &job->launches;
    struct rng *rng = &launches->rng;
    size_t which = launches->count - 1;
    if (sim->profile.plant == PLANT_REUSE_DOCUMENT && which > 0)
        which--;
    bool partial = !sim->faults.calm && rng_chance(rng, LEFT_OUT);
    struct host *host;
    for (uint32_t i = 0; (host = hosts_at(sim, job, i)); i++) {
        bool late = fault_happens(&sim->faults, FAULT_PROLOG_LATE, rng);
        if (partial && !host->present && rng_chance(rng, 500))
            host->left_out = job->life;
        if (host->left_out == job->life && !late)
            continue;
        host->prologs++;
        sim_later(sim, rng_between(rng, 0, late ? LATE_MS : 500), prolog, host,
                  (uint64_t)which << 32 | job->life);
    }
}

/* Some of the job's nodes get it, now and in whatever state the job is. */
static void start_some(struct sim *sim, struct job *job, const struct request *request)
{
    struct launches *launches = &job->launches;
    struct rng *rng = &launches->dice;
    struct document *document = keep(sim, job, &request->told);
    struct host *host;
    document->life = request->life;
    document->asker = true;
    if (job->stage == STAGE_STARTING && job->life == request->life)
        sums_forget(job, document->number);
    for (uint32_t i = 0; (host = hosts_at(sim, job, i)); i++) {
        bool late = !sim->faults.calm && rng_chance(rng, 300);
        if (rng_chance(rng, 500))
            continue;
        host->prologs++;
        sim_later(sim, rng_between(rng, 0, late ? LATE_MS : 500), prolog, host,
                  (uint64_t)(launches->count - 1) << 32 | job->life);
    }
}

bool launch_prologs(struct sim *sim, struct job *job, const struct told *told)
{
    struct launches *launches = &job->launches;
    if (!launches->wanted || told->vni_count == 0)
        return false;
    if (launches->later) {
        ask(sim, job, job->life);
        return true;
    }
    if (!told->launch)
        return false;
    keep(sim, job, told);
    start_nodes(sim, job);
    return true;
}

void launch_answered(struct sim *sim, const struct request *request)
{
    struct job *job = request->job;
    bool runs = job->stage == STAGE_RUNNING && job->life == request->life && job->number != 0;
    if (!runs || !job->launches.later) {
        if (request->told.launch && request->told.vni_count > 0)
            start_some(sim, job, request);
        return;
    }
    job->launches.later = false;
    bool same = request->told.number == job->number && request->told.epoch == job->epoch;
    if (!request->told.launch || !same) {
        hosts_ask(sim, job);
        return;
    }
    keep(sim, job, &request->told);
    start_nodes(sim, job);
}

/* ---- the nodes ---- */

bool launch_begins(const struct job *job, uint64_t number)
{
    const struct launches *launches = &job->launches;
    bool found = false;
    for (size_t i = 0; i < launches->count && job->stage == STAGE_STARTING; i++)
        found |=
            launches->documents[i].life == job->life && launches->documents[i].number == number;
    return found;
}

void launch_epilogs(struct sim *sim, struct job *job, uint64_t but)
{
    struct host *host;
    for (uint32_t i = 0; job->launches.count > 0 && (host = hosts_at(sim, job, i)); i++)
        if (host->present && host->number != but)
            hosts_end_of(sim, host, host->number);
}

static bool refuses(const struct sim *sim, const struct host *host, const struct document *document,
                    uint32_t life)
{
    bool ended = document->number <= host->ended_number || document->number < host->number ||
                 document->issued_ms <= host->booted_ms;
    bool other = document->life != life || host - host->job->hosts >= document->node_count;
    return (ended && sim->profile.plant != PLANT_ACCEPT_ENDED) ||
           (other && sim->profile.plant != PLANT_REUSE_DOCUMENT);
}

static void is_allowed(struct sim *sim, const struct host *host, const struct document *document,
                       bool runs)
{
    const struct job *job = host->job;
    const struct entry *e = model_entry(&sim->model, document->number);
    unsigned long long number = document->number;
    if (document->epoch != sim->model.epoch)
        return; /* the ledger may know nothing of it */
    if (!e || e->back_batch || e->gone_batch)
        sim_fail(sim, "I1", "node %s makes services for number %llu, whose VNIs are given back",
                 host->name, number);
    if (runs && !document->asker && job->epoch == document->epoch &&
        job->number != document->number)
        sim_fail(sim, "I7", "node %s makes services for number %llu, its job has number %llu",
                 host->name, number, (unsigned long long)job->number);
}

static void prolog(struct sim *sim, void *what, uint64_t mark)
{
    struct host *host = what;
    struct job *job = host->job;
    uint32_t life = (uint32_t)mark;
    const struct document *document = &job->launches.documents[mark >> 32];
    bool begins = document->asker && job->stage == STAGE_STARTING;
    bool runs = (job->stage == STAGE_RUNNING || begins) && job->life == life;
    host->prologs--;
    host->left_out = 0;
    if (host->dead || host->cut_off || host->fenced || host->present)
        return;
    if (rng_chance(&job->launches.rng, UNREADABLE) || refuses(sim, host, document, life)) {
        sim_trace(sim, "node %s: refuses the document of number %llu", host->name,
                  (unsigned long long)document->number);
        hosts_ask_of(sim, host, life);
        return;
    }
    is_allowed(sim, host, document, runs);
    hosts_make(sim, host, document);
    if (!runs) /* it is seen that it came too late */
        hosts_end_of(sim, host, document->number);
}
