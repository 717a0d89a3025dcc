/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/rm.h"

#include "tests/sim/grow.h"
#include "tests/sim/reload.h"
#include "tests/sim/named.h"
#include "tests/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NONSENSE_KINDS = 5,
    FLOODING_UID = 999,
    FLOOD_LIVES = 20,
    FLOOD_APART_MS = 2000,
};

static void sync_begins(struct sim *sim, void *what, uint64_t cluster);
static void job_starts(struct sim *sim, void *what, uint64_t life);
static void job_ends(struct sim *sim, void *what, uint64_t life);
static void send_reserve(struct sim *sim, struct job *job, int64_t travel_ms);
static void send_release(struct sim *sim, struct job *job);
static void end_job(struct sim *sim, struct job *job);

/* ---- jobs ---- */

void rm_init(struct sim *sim)
{
    struct rm *rm = &sim->rm;
    memset(rm, 0, sizeof *rm);
    rng_init(&rm->rng, sim->profile.seed, 6);
    uint32_t clusters = sim->config.cluster_count;
    rm->job_count = sim->profile.jobs;
    rm->jobs = memory_zeroed((rm->job_count + 1) * sizeof *rm->jobs);
    for (uint32_t i = 0; i < rm->job_count; i++) {
        struct job *job = memory_zeroed(sizeof *job);
        job->cluster = i % clusters;
        rng_init(&job->rng, sim->profile.seed, 5000 + i);
        unsigned serial = i / clusters + 1; /* clusters use the same ids */
        switch (serial % 4) {
        case 0:
            snprintf(job->id, sizeof job->id, "f%uRs8", serial);
            break;
        case 1:
            snprintf(job->id, sizeof job->id, "%u", serial);
            break;
        case 2:
            snprintf(job->id, sizeof job->id, "x-%u", serial);
            break;
        default:
            snprintf(job->id, sizeof job->id, "a.%u_0+1@b:c", serial);
            break;
        }
        struct rng floods;
        rng_init_for(&floods, sim->profile.seed, "flood", i);
        job->floods = rng_chance(&floods, sim->profile.floods);
        slurm_draw(sim, job, serial);
        launch_init(sim, job, i);
        sums_init(sim, job, i);
        rm->jobs[i] = job;
    }
    for (uint32_t cluster = 0; cluster < clusters; cluster++)
        if (!sim->profile.silent[cluster])
            sim_later(sim, rng_between(&rm->rng, 1, sim->profile.sync_ms), sync_begins, NULL,
                      cluster);
}

void rm_release(struct sim *sim)
{
    struct rm *rm = &sim->rm;
    for (size_t i = 0; i < rm->job_count; i++) {
        launch_release(rm->jobs[i]);
        sums_release(rm->jobs[i]);
        free(rm->jobs[i]);
    }
    for (size_t i = 0; i < rm->request_count; i++) {
        jobview_release(&rm->requests[i]->jobview);
        free(rm->requests[i]);
    }
    jobpoll_release(sim);
    free(rm->jobs);
    free(rm->requests);
    memset(rm, 0, sizeof *rm);
}

void rm_storm(struct sim *sim, uint32_t round)
{
    struct rm *rm = &sim->rm;
    for (size_t i = 0; i < rm->job_count; i++) {
        struct job *job = rm->jobs[i];
        bool skipped = i < 64 && (sim->profile.skipped >> i & 1);
        if (i % sim->profile.rounds == round && job->stage == STAGE_NONE && !skipped)
            sim_later(sim, rng_between(&job->rng, 0, sim->profile.storm_ms), job_starts, job,
                      job->life + 1);
    }
}

void rm_drain(struct sim *sim)
{
    for (size_t i = 0; i < sim->rm.job_count; i++)
        if (sim->rm.jobs[i]->stage == STAGE_RUNNING)
            end_job(sim, sim->rm.jobs[i]);
}

struct job *rm_find(const struct sim *sim, const char *cluster, const char *id)
{
    for (size_t i = 0; i < sim->rm.job_count; i++) {
        struct job *job = sim->rm.jobs[i];
        if (strcmp(job->id, id) == 0 && strcmp(rm_cluster_name(sim, job), cluster) == 0)
            return job;
    }
    return NULL;
}

const char *rm_any_job(struct sim *sim, struct rng *rng)
{
    return sim->rm.jobs[rng_below(rng, (uint32_t)sim->rm.job_count)]->id;
}

const char *rm_cluster_name(const struct sim *sim, const struct job *job)
{
    return sim->config.clusters[job->cluster].name;
}

const char *rm_job_name(const struct job *job)
{
    return job ? job->id : "(no job)";
}

const char *rm_request_word(const struct request *request)
{
    static const char *const words[] = {
        "reserve", "release",     "sync",   "node report", "fence", "cleanup", "look at the steps",
        "boot",    "accept-loss", "claim",  "launch",      "sum",   "join",    "leave",
        "NICs",    "share",       "unshare"};
    return words[request->kind];
}

/* ---- messages ---- */

struct request *rm_request(struct sim *sim, enum request_kind kind, struct job *job)
{
    struct rm *rm = &sim->rm;
    struct request *request = memory_zeroed(sizeof *request);
    GROW(rm->requests, rm->request_count, rm->request_room);
    rm->requests[rm->request_count++] = request;
    request->ticket = rm->request_count;
    request->kind = kind;
    request->job = job;
    if (job) {
        request->cluster = job->cluster;
        request->life = job->life;
        request->wanted = job->wanted;
        request->by_plugin = request->looks = kind == REQUEST_RESERVE && job->by_plugin;
        request->launch = job->launches.wanted && !job->launches.later;
        if (kind == REQUEST_RESERVE && sim->profile.nodes_named && !job->by_plugin)
            hosts_name_nodes(sim, job, request->nodes, sizeof request->nodes);
    }
    return request;
}

static void trace_arrival(struct sim *sim, const struct request *request)
{
    char active[200] = "";
    size_t length = 0;
    for (size_t i = 0; i < request->jobview.count && sim->trace && length < sizeof active; i++)
        length += (size_t)snprintf(active + length, sizeof active - length, " %s",
                                   request->jobview.active[i]);
    if (request->kind == REQUEST_CLEANUP)
        length += (size_t)snprintf(active, sizeof active, " number %llu, step %s%s",
                                   (unsigned long long)request->cleanup.number,
                                   steps_name(request->cleanup.step),
                                   request->cleanup.below ? " and below" : "");
    for (size_t i = 0; i < request->cleanup.scope_count; i++)
        length += (size_t)snprintf(active + length, sizeof active - length, "%s%s",
                                   i == 0 ? ", within " : " and ", request->cleanup.scope_names[i]);
    sim_trace(sim, "rm: %s of %s%s%s%s (ticket %llu) arrives%s", rm_request_word(request),
              sim->config.clusters[request->cluster].name, request->job ? "-" : ":",
              request->job ? request->job->id : "", active, (unsigned long long)request->ticket,
              sim->edge.core ? "" : ", nobody listens");
}

/* What tells nothing of the life of the job that it means. */
static bool counts_as_release(const struct request *request)
{
    return request->job && (request->kind == REQUEST_RELEASE ||
                            (request->kind == REQUEST_CLEANUP && request->by_plugin));
}

static void arrive(struct sim *sim, void *what, uint64_t lost)
{
    struct request *request = what;
    enum brokers_route route = lost ? ROUTE_NOWHERE : brokers_route(sim, request, arrive);
    if (route == ROUTE_ON)
        return;
    if (counts_as_release(request))
        request->job->releases_travelling--;
    if (request->kind == REQUEST_SUM)
        request->job->sums.travelling--;
    if (route == ROUTE_NOWHERE)
        return;
    trace_arrival(sim, request);
    if (!request->by_plugin || !slurm_takes(sim, request, arrive))
        edge_receive(sim, request);
}

static struct rng *prng_of(struct sim *sim, const struct request *request)
{
    if (request->kind == REQUEST_CLEANUP || request->kind == REQUEST_STEPS ||
        request->kind == REQUEST_JOIN || request->kind == REQUEST_LEAVE)
        return bearer_dice(sim, request->job);
    if (request->kind == REQUEST_NICS)
        return &request->nics.node->rng;
    if (request->kind == REQUEST_SHARE || request->kind == REQUEST_UNSHARE)
        return &sim->shares.rng;
    return request->job ? &request->job->rng : &sim->rm.rng;
}

void rm_send(struct sim *sim, struct request *request, int64_t travel_ms)
{
    struct rng *rng = prng_of(sim, request);
    bool lost = fault_happens(&sim->faults, FAULT_REQUEST_LOST, rng);
    if (counts_as_release(request))
        request->job->releases_travelling++;
    if (request->kind == REQUEST_SUM)
        request->job->sums.travelling++;
    sim_later(sim, travel_ms, arrive, request, lost);
}

static int64_t travel(const struct sim *sim, struct rng *rng)
{
    return rng_between(rng, 0, sim->profile.net_ms);
}

static int64_t retry_delay_ms(const struct sim *sim, struct job *job)
{
    return profile_longest_wait(&sim->config) + rng_between(&job->rng, 500, 8000);
}

static void wrong_reserve(const struct request *request, struct reserve_request *out)
{
    switch (request->nonsense) {
    case 1:
        out->cluster = "nowhere";
        break;
    case 2:
        out->job = "no job id";
        break;
    case 3:
        out->vni_count = VNI_PER_JOB_MAX + 1;
        break;
    case 4:
        out->node_count = 0;
        break;
    case 5:
        out->job = "";
        break;
    }
}

void rm_event(struct sim *sim, struct request *request, struct core_event *event)
{
    const char *cluster = sim->config.clusters[request->cluster].name;
    memset(event, 0, sizeof *event);
    switch (request->kind) {
    case REQUEST_RESERVE:
        event->kind = CORE_RESERVE;
        event->ticket = request->ticket;
        event->u.reserve = (struct reserve_request){
            .cluster = cluster,
            .job = request->job ? request->job->id : "nonsense",
            .nodes = request->nodes[0] != '\0' ? request->nodes : NULL,
            .node_count = request->wanted.node_count,
            .uid = request->wanted.uid,
            .vni_count = request->wanted.vni_count,
            .wish = request->wanted.wish,
            .profile = request->wanted.profile,
            .launch = request->launch && sim->config.vni_hold_ms < 0,
            .interconnect = request->wanted.interconnect,
            .key = secret_of(request->key),
        };
        for (unsigned i = 0; i < request->wanted.shared_count; i++)
            event->u.reserve.shared[i] = shares_name(request->wanted.shared[i]);
        event->u.reserve.shared_count = request->wanted.shared_count;
        named_event(request, &event->u.reserve);
        snprintf(request->key, sizeof request->key, "%032llx",
                 (unsigned long long)(sim->profile.plant == PLANT_KEY_BY_NAME && request->job
                                          ? name_hash(cluster, request->job->id)
                                          : request->ticket));
        if (request->by_plugin)
            slurm_event(sim, request, event);
        if (request->nonsense)
            wrong_reserve(request, &event->u.reserve);
        break;
    case REQUEST_RELEASE:
        event->kind = CORE_RELEASE;
        event->ticket = request->ticket;
        event->u.release.cluster = cluster;
        if (request->unknown_job)
            snprintf(request->nodes, sizeof request->nodes, "s%llu",
                     (unsigned long long)request->unknown_job);
        event->u.release.job =
            request->unknown_job || !request->job ? request->nodes : request->job->id;
        event->u.release.number = request->number;
        if (request->by_plugin)
            slurm_event(sim, request, event);
        break;
    case REQUEST_LAUNCH:
        event->kind = CORE_LAUNCH;
        event->ticket = request->ticket;
        event->u.launch.cluster = cluster;
        event->u.launch.job = request->job->id;
        break;
    case REQUEST_SUM:
        sums_event(sim, request, event);
        break;
    case REQUEST_SYNC:
        event->kind = CORE_SYNC;
        event->ticket = request->ticket;
        event->u.sync.cluster = cluster;
        event->u.sync.active = request->jobview.active;
        request->named = jobview_named(sim, &request->jobview,
                                       fault_happens(&sim->faults, FAULT_SYNC_LIES, &sim->rm.rng));
        event->u.sync.count = request->named;
        break;
    case REQUEST_REPORT:
    case REQUEST_FENCE:
    case REQUEST_BOOT:
        hosts_event(sim, request, event);
        break;
    case REQUEST_NICS:
        nics_event(request, event);
        break;
    case REQUEST_CLEANUP:
    case REQUEST_STEPS:
        bearer_event(sim, request, event);
        break;
    case REQUEST_JOIN:
    case REQUEST_LEAVE:
        joins_event(sim, request, event);
        break;
    case REQUEST_SHARE:
    case REQUEST_UNSHARE:
        shares_event(sim, request, event);
        break;
    case REQUEST_ACCEPT_LOSS:
    case REQUEST_CLAIM:
        admin_event(sim, request, event);
        break;
    }
}

/* ---- a life ---- */

/* Where only nodes give VNIs back, all of them are modelled. */
static struct wanted draw_wanted(const struct sim *sim, struct rng *rng)
{
    static const enum hwcoll_wish wishes[] = {0,       0,       0,        WISH_AUTO,
                                              WISH_ON, WISH_ON, WISH_OFF, WISH_REQUIRED};
    static const uint32_t sizes[] = {1, 2, 16, 64, 128, 11136};
    uint32_t size = sizes[rng_below(rng, 6)];
    return (struct wanted){
        .node_count = sim->profile.config.vni_hold_ms < 0 && size > HOSTS_MAX ? HOSTS_MAX : size,
        .uid = 1000 + rng_below(rng, 3),
        .vni_count = rng_chance(rng, 600) ? -1 : (int)rng_below(rng, VNI_PER_JOB_MAX + 1),
        .wish = wishes[rng_below(rng, 8)],
    };
}

/* From dice of its own, so that all else is as without. */
static void draw_interconnect(const struct sim *sim, struct job *job)
{
    struct rng rng;
    rng_init_for(&rng, sim->profile.seed ^ name_hash(rm_cluster_name(sim, job), job->id),
                 "interconnect", job->life);
    if (!rng_chance(&rng, sim->profile.others))
        return;
    job->wanted.interconnect = rng_chance(&rng, 750) ? INTERCONNECT_OMNIPATH : INTERCONNECT_NONE;
    job->wanted.vni_count = -1;
    job->wanted.wish = 0;
}

/* From dice of its own, too. */
static void draw_profile(const struct sim *sim, struct job *job)
{
    struct rng rng;
    rng_init_for(&rng, sim->profile.seed ^ name_hash(rm_cluster_name(sim, job), job->id), "profile",
                 job->life);
    if (job->wanted.interconnect == INTERCONNECT_SLINGSHOT && rng_chance(&rng, 200))
        job->wanted.profile = RELOAD_PROFILE;
}

/* With two of its own there is room for two others. */
static void draw_shared(struct sim *sim, struct job *job)
{
    struct wanted *wanted = &job->wanted;
    if (wanted->interconnect != INTERCONNECT_SLINGSHOT)
        return;
    wanted->shared_count = shares_draw(sim, job->cluster, job->id, job->life, wanted->shared);
    if (wanted->shared_count > 0 && (wanted->vni_count < 1 || wanted->vni_count > 2))
        wanted->vni_count = 1;
}

static void retry_reserve(struct sim *sim, void *what, uint64_t attempt)
{
    struct job *job = what;
    if (job->stage == STAGE_STARTING && job->attempt == attempt)
        send_reserve(sim, job, travel(sim, &job->rng));
}

static void send_reserve(struct sim *sim, struct job *job, int64_t travel_ms)
{
    rm_send(sim, rm_request(sim, REQUEST_RESERVE, job), travel_ms);
    if (fault_happens(&sim->faults, FAULT_DUPLICATE, &job->rng))
        rm_send(sim, rm_request(sim, REQUEST_RESERVE, job),
                travel_ms + rng_between(&job->rng, 0, 500));
    if (fault_happens(&sim->faults, FAULT_STRAGGLER, &job->rng))
        rm_send(sim, rm_request(sim, REQUEST_RESERVE, job),
                travel_ms + rng_between(&job->rng, 1000, 30000));
    sim_later(sim, retry_delay_ms(sim, job), retry_reserve, job, ++job->attempt);
}

static void retry_release(struct sim *sim, void *what, uint64_t attempt)
{
    struct job *job = what;
    if (job->stage == STAGE_ENDING && job->attempt == attempt)
        send_release(sim, job);
}

/* By the number, at times, where it knows that. */
static struct request *release_of(struct sim *sim, struct job *job)
{
    struct request *request = rm_request(sim, REQUEST_RELEASE, job);
    const struct entry *e = job->told ? model_at(sim, job->told_number) : NULL;
    if (e && e->job == job && e->epoch == sim->model.epoch && request->ticket % 3 == 0)
        request->number = e->number;
    return request;
}

static void send_release(struct sim *sim, struct job *job)
{
    rm_send(sim, release_of(sim, job), travel(sim, &job->rng));
    if (fault_happens(&sim->faults, FAULT_DUPLICATE, &job->rng))
        rm_send(sim, release_of(sim, job), travel(sim, &job->rng));
    sim_later(sim, retry_delay_ms(sim, job), retry_release, job, ++job->attempt);
}

static void run_epilogs(struct sim *sim, struct job *job)
{
    uint64_t number = job->stage == STAGE_RUNNING ? job->number : 0;
    hosts_epilog(sim, job, number);
    launch_epilogs(sim, job, number);
    hosts_look(sim, job);
}

static void may_requeue(struct sim *sim, struct job *job)
{
    if (job->floods && job->life < FLOOD_LIVES)
        sim_later(sim, rng_between(&job->rng, 1, FLOOD_APART_MS), job_starts, job, job->life + 1);
    else if (fault_happens(&sim->faults, FAULT_REQUEUE, &job->rng))
        sim_later(sim, rng_chance(&job->rng, 500) ? 0 : rng_between(&job->rng, 1, 60000),
                  job_starts, job, job->life + 1);
}

static void job_is_over(struct sim *sim, struct job *job)
{
    job->active = false;
    job->stage = STAGE_NONE;
    may_requeue(sim, job);
}

void rm_forget(struct sim *sim, struct job *job)
{
    sim_trace(sim, "rm: %s-%s is forgotten", rm_cluster_name(sim, job), job->id);
    job_is_over(sim, job);
}

static void begin_release(struct sim *sim, struct job *job)
{
    run_epilogs(sim, job);
    job->active = false;
    if (job->by_plugin) {
        slurm_ends(sim, job);
        job_is_over(sim, job);
        return;
    }
    job->stage = STAGE_ENDING;
    send_release(sim, job);
}

static void job_is_cancelled(struct sim *sim, void *what, uint64_t life)
{
    struct job *job = what;
    if (job->life == life && (job->stage == STAGE_STARTING || job->stage == STAGE_RUNNING))
        begin_release(sim, job);
}

static void job_starts(struct sim *sim, void *what, uint64_t life)
{
    struct job *job = what;
    struct rng *rng = &job->rng;
    if (sim->phase != PHASE_STORM || job->stage != STAGE_NONE || job->life + 1 != life)
        return;
    bool may_mix = job->unreleased && job->sums.travelling > 0;
    if (job->releases_travelling > 0 || may_mix ||
        slurm_waits(sim, job)) { /* nothing tells one life's from another's */
        sim_later(sim, 50, job_starts, job, life);
        return;
    }
    job->life++;
    sim->result.lives++;
    job->stage = STAGE_STARTING;
    job->active = job->unreleased = true;
    job->told = job->named = false;
    if (job->life == 1 || rng_chance(rng, 200)) {
        job->wanted = draw_wanted(sim, rng);
        draw_interconnect(sim, job);
        draw_profile(sim, job);
        draw_shared(sim, job);
        named_draw(sim, job);
    }
    if (job->floods)
        job->wanted.uid = FLOODING_UID;
    if (!job->by_plugin)
        launch_draw(sim, job);
    slurm_starts(sim, job);
    sim_trace(sim, "rm: %s-%s starts, life %u", rm_cluster_name(sim, job), job->id, job->life);

    int64_t reserve_travels = travel(sim, &job->rng);
    if (fault_happens(&sim->faults, FAULT_CANCEL_EARLY, &job->rng)) {
        int64_t at = rng_between(rng, 0, profile_longest_wait(&sim->config) + 500);
        if (fault_happens(&sim->faults, FAULT_OVERTAKE, &job->rng))
            reserve_travels = at + rng_between(rng, 1, 3000);
        sim_later(sim, at, job_is_cancelled, job, life);
    }
    if (job->floods)
        sim_later(sim, rng_between(rng, 0, FLOOD_APART_MS), job_is_cancelled, job, life);
    send_reserve(sim, job, reserve_travels);
}

static void end_job(struct sim *sim, struct job *job)
{
    bearer_ends(sim, job);
    if (!fault_happens(&sim->faults, FAULT_EPILOG_LOST, &job->rng)) {
        begin_release(sim, job);
        return;
    }
    sim_trace(sim, "rm: %s-%s ends, its epilog is lost", rm_cluster_name(sim, job), job->id);
    run_epilogs(sim, job); /* on the nodes they run */
    job_is_over(sim, job);
}

static void job_ends(struct sim *sim, void *what, uint64_t life)
{
    struct job *job = what;
    if (job->stage != STAGE_RUNNING || job->life != life)
        return;
    if (sim->phase == PHASE_QUIET) /* nothing starts or ends in a quiet spell */
        sim_later(sim, sim->profile.quiet_ms, job_ends, job, life);
    else
        end_job(sim, job);
}

/* ---- trouble that a running job can make ---- */

static void another_request(struct sim *sim, void *what, uint64_t life)
{
    struct job *job = what;
    if (job->stage != STAGE_RUNNING || job->life != life)
        return;
    struct request *request = rm_request(sim, REQUEST_RESERVE, job);
    request->other = true;
    if (job->by_plugin) /* as hooks do; none of its nodes knows of it */
        request->wanted = (struct wanted){.node_count = 2, .uid = 1000};
    request->by_plugin = request->looks = false;
    request->wanted.uid += 100;
    rm_send(sim, request, travel(sim, &job->rng));
}

static void same_request(struct sim *sim, void *what, uint64_t life)
{
    struct job *job = what;
    if (job->stage == STAGE_RUNNING && job->life == life)
        rm_send(sim, rm_request(sim, REQUEST_RESERVE, job), travel(sim, &job->rng));
}

static void talk_nonsense(struct sim *sim, struct job *job)
{
    struct request *request = rm_request(sim, REQUEST_RESERVE, NULL);
    request->nonsense = 1 + rng_below(&job->rng, NONSENSE_KINDS);
    request->wanted = (struct wanted){.node_count = 1, .vni_count = -1};
    rm_send(sim, request, travel(sim, &job->rng));
}

static void job_runs(struct sim *sim, struct job *job)
{
    struct rng *rng = &job->rng;
    int64_t runs = rng_between(rng, 1, sim->profile.run_ms);
    job->stage = STAGE_RUNNING;
    sim_later(sim, runs, job_ends, job, job->life);
    if (rng_chance(rng, 300)) /* a prolog that is run again */
        sim_later(sim, rng_between(rng, 0, runs), same_request, job, job->life);
    slurm_runs(sim, job, runs);
    if (fault_happens(&sim->faults, FAULT_CONFLICT, &job->rng) && slurm_allows_hooks(sim, job))
        sim_later(sim, rng_between(rng, 0, runs), another_request, job, job->life);
    if (fault_happens(&sim->faults, FAULT_NONSENSE, &job->rng))
        talk_nonsense(sim, job);
}

/* ---- answers ---- */

static void reserve_answered(struct sim *sim, const struct request *request)
{
    struct job *job = request->job;
    if (!job || request->other || job->stage != STAGE_STARTING || job->life != request->life)
        return;
    if (request->told.kind == ANSWER_CREATED || request->told.kind == ANSWER_SAME) {
        job_runs(sim, job);
        hosts_prolog(sim, job, &request->told);
        bearer_begins(sim, job, &request->told);
    } else if (rng_chance(&job->rng, 500))
        begin_release(sim, job); /* its epilog runs all the same */
    else {
        run_epilogs(sim, job);
        job_is_over(sim, job);
    }
}

static void release_answered(struct sim *sim, const struct request *request)
{
    struct job *job = request->job;
    if (!job || job->stage != STAGE_ENDING || job->life != request->life)
        return;
    job->unreleased = false;
    if (fault_happens(&sim->faults, FAULT_DOUBLE_RELEASE, &job->rng))
        rm_send(sim, release_of(sim, job), travel(sim, &job->rng));
    job_is_over(sim, job);
}

static void answer_arrives(struct sim *sim, void *what, uint64_t mark)
{
    const struct request *request = what;
    (void)mark;
    if (request->kind == REQUEST_RESERVE)
        reserve_answered(sim, request);
    else if (request->kind == REQUEST_RELEASE)
        release_answered(sim, request);
    else if (request->kind == REQUEST_LAUNCH)
        launch_answered(sim, request);
    else if (request->kind == REQUEST_SUM)
        sums_answered(sim, request);
    else if (request->kind == REQUEST_JOIN || request->kind == REQUEST_LEAVE)
        joins_answered(sim, request);
    else if (request->kind == REQUEST_REPORT || request->kind == REQUEST_FENCE ||
             request->kind == REQUEST_BOOT)
        hosts_answered(sim, request);
    else if (request->kind == REQUEST_NICS)
        nics_answered(sim, request);
}

void rm_told(struct sim *sim, const struct told *told)
{
    struct request *request = sim->rm.requests[told->ticket - 1];
    request->told = *told;
    request->told.epoch = sim->model.epoch;
    launch_leaves(sim, request);
    sim_trace(sim, "broker: answers ticket %llu (%s %s): %s, number %llu, hwcoll %s",
              (unsigned long long)told->ticket, rm_request_word(request), rm_job_name(request->job),
              answer_word(told->kind), (unsigned long long)told->number,
              told->number ? hwcoll_state_word(told->hwcoll) : "-");
    answers_told(sim, request);
    struct rng *rng = prng_of(sim, request);
    if (!fault_happens(&sim->faults, FAULT_ANSWER_LOST, rng))
        sim_later(sim, travel(sim, rng), answer_arrives, request, 0);
}

/* ---- syncs ---- */

static void sync_begins(struct sim *sim, void *what, uint64_t cluster)
{
    struct rng *rng = &sim->rm.rng;
    (void)what;
    sim_later(sim, sim->profile.sync_ms, sync_begins, NULL, cluster);
    if (fault_happens(&sim->faults, FAULT_SYNC_LOST, rng))
        return;
    struct request *request = rm_request(sim, REQUEST_SYNC, NULL);
    request->cluster = (uint32_t)cluster;
    jobview_take(sim, &request->jobview, (uint32_t)cluster);
    /* However long it takes, less than the grace period: the core's assumption (F20). */
    int64_t lag = travel(sim, rng);
    if (fault_happens(&sim->faults, FAULT_SYNC_LAGS, rng))
        lag = rng_between(rng, 0, sim->config.sync_grace_ms - 1);
    rm_send(sim, request, lag);
}
