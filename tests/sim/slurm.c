/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/slurm.h"

#include "core/reservation/reservation.h"
#include "core/reservation/sizing.h"
#include "tests/sim/grow.h"
#include "tests/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIST_EVERY_MS = 30000,
    LIST_WAITS_MS = 10, /* until what it shows is on disk */
    AWAY_MAX_MS = 40000,
    LIVES_ON_MS = 20000, /* a step manager whose slurmctld has forgotten its job */
    STEPS_MAX_A_JOB = 4,
    FIRST_SERIAL = 70000, /* of ids that no job has */
};

static void list_begins(struct sim *sim, void *what, uint64_t cluster);
static void former_ends(struct sim *sim, void *what, uint64_t mark);

static const char *cluster_name(const struct sim *sim, uint32_t cluster)
{
    return sim->config.clusters[cluster].name;
}

static int64_t travel(struct sim *sim)
{
    return rng_between(&sim->slurm.rng, 0, sim->profile.net_ms);
}

/* ---- jobs ---- */

void slurm_init(struct sim *sim)
{
    struct slurm *slurm = &sim->slurm;
    memset(slurm, 0, sizeof *slurm);
    rng_init_for(&slurm->rng, sim->profile.seed, "slurm", 0);
    for (uint32_t i = 0; i < sim->config.cluster_count; i++)
        if (sim->profile.plugin[i])
            sim_later(sim, rng_between(&slurm->rng, 1, LIST_EVERY_MS), list_begins, NULL, i);
}

void slurm_format_id(const struct sim *sim, uint32_t cluster, const char *word, uint64_t serial,
                     char *out, size_t size)
{
    if (sim->profile.plugin[cluster])
        snprintf(out, size, "%llu", (unsigned long long)FIRST_SERIAL + serial);
    else
        snprintf(out, size, "%s%llu", word, (unsigned long long)serial);
}

static bool is_number(const char *id)
{
    return id[strspn(id, "0123456789")] == '\0' && id[0] != '0';
}

const char *slurm_id(const struct sim *sim, uint32_t cluster, const char *id, const char *other)
{
    return sim->profile.plugin[cluster] && !is_number(id) ? other : id;
}

/* Hooks only where a list of jobs tells what they have left. */
static bool may_have_hooks(const struct sim *sim, uint32_t cluster)
{
    return sim->profile.config.clusters[cluster].jobpoll;
}

bool slurm_allows_hooks(const struct sim *sim, const struct job *job)
{
    return !job->by_plugin || may_have_hooks(sim, job->cluster);
}

void slurm_draw(struct sim *sim, struct job *job, uint32_t serial)
{
    if (!sim->profile.plugin[job->cluster])
        return;
    snprintf(job->id, sizeof job->id, "%u", serial);
    job->floods = false;
    job->by_plugin = !may_have_hooks(sim, job->cluster) || rng_chance(&sim->slurm.rng, 800);
}

static struct former *former_of(struct sim *sim, uint32_t cluster, const char *id)
{
    struct slurm *slurm = &sim->slurm;
    struct former *former = &slurm->formers[slurm->count++];
    former->cluster = cluster;
    former->runs = true;
    fm_name_format(former->name, cluster_name(sim, cluster), id);
    former->id = strchr(former->name, '-') + 1;
    return former;
}

/* Where a list of jobs tells when they are over: else [vni] hold, if that is a time (B11). */
void slurm_begin(struct sim *sim)
{
    struct slurm *slurm = &sim->slurm;
    for (uint32_t i = 0; i < FORMERS_MAX && sim->profile.formers; i++) {
        const struct job *job = sim->rm.jobs[rng_below(&slurm->rng, (uint32_t)sim->rm.job_count)];
        char id[JOB_ID_MAX + 1];
        slurm_format_id(sim, job->cluster, "former", 500 + i, id, sizeof id);
        if (rng_chance(&slurm->rng, 500)) /* it starts again under its id, and asks here then */
            snprintf(id, sizeof id, "%s", job->id);
        char name[FM_NAME_MAX + 1];
        fm_name_format(name, cluster_name(sim, job->cluster), id);
        struct object *object =
            job->by_plugin && may_have_hooks(sim, job->cluster) ? fabric_add(sim, name, 1) : NULL;
        if (!object)
            continue;
        object->unknown = true;
        fabric_is_alien(sim, name);
        struct former *former = former_of(sim, job->cluster, id);
        sim_trace(sim, "slurm: %s runs, and was reserved at the fabric manager", former->name);
        sim_later(sim, rng_between(&slurm->rng, 0, sim->profile.storm_ms), former_ends, former, 0);
    }
}

static struct former *find_former(const struct sim *sim, const char *name)
{
    for (size_t i = 0; i < sim->slurm.count; i++)
        if (sim->slurm.formers[i].runs && strcmp(sim->slurm.formers[i].name, name) == 0)
            return (struct former *)(uintptr_t)&sim->slurm.formers[i];
    return NULL;
}

bool slurm_has(const struct sim *sim, const char *name)
{
    return find_former(sim, name);
}

bool slurm_has_any(const struct sim *sim, const char *cluster)
{
    for (size_t i = 0; i < sim->slurm.count; i++)
        if (sim->slurm.formers[i].runs &&
            strcmp(cluster_name(sim, sim->slurm.formers[i].cluster), cluster) == 0)
            return true;
    return false;
}

void slurm_name_formers(const struct sim *sim, struct jobview *jobview)
{
    for (size_t i = 0; i < sim->slurm.count; i++)
        if (sim->slurm.formers[i].runs && sim->slurm.formers[i].cluster == jobview->cluster)
            jobview->active[jobview->count++] = sim->slurm.formers[i].id;
}

/* Its step manager asks the fabric manager for the DELETE, as ever; or that is lost. */
static void former_ends(struct sim *sim, void *what, uint64_t mark)
{
    struct former *former = what;
    (void)mark;
    if (!former->runs)
        return;
    former->runs = false;
    bool deletes = rng_chance(&sim->slurm.rng, 500) && sim->fabric.up;
    sim_trace(sim, "slurm: %s ends%s", former->name, deletes ? ", and is deleted there" : "");
    if (deletes)
        fabric_drop(sim, former->name);
}

void slurm_drain(struct sim *sim)
{
    for (size_t i = 0; i < sim->slurm.count; i++)
        former_ends(sim, &sim->slurm.formers[i], 0);
}

static bool is_running(struct sim *sim, uint32_t cluster, const char *id)
{
    char name[FM_NAME_MAX + 1];
    const struct job *job = rm_find(sim, cluster_name(sim, cluster), id);
    fm_name_format(name, cluster_name(sim, cluster), id);
    return (job && job->active) || slurm_has(sim, name);
}

/* ---- a life ---- */

bool slurm_waits(const struct sim *sim, const struct job *job)
{
    char name[FM_NAME_MAX + 1];
    fm_name_format(name, cluster_name(sim, job->cluster), job->id);
    return job->by_plugin && slurm_has(sim, name);
}

void slurm_starts(struct sim *sim, struct job *job)
{
    (void)sim;
    if (!job->by_plugin)
        return;
    job->told_before = job->told_number;
    job->wanted = (struct wanted){.uid = UID_UNKNOWN, .wish = WISH_ON};
}

static struct request *plugin_request(struct sim *sim, enum request_kind kind, struct job *job)
{
    struct request *request = rm_request(sim, kind, job);
    request->by_plugin = true;
    request->looks = kind == REQUEST_RESERVE;
    return request;
}

static void step_begins(struct sim *sim, void *what, uint64_t life)
{
    struct job *job = what;
    if (job->stage == STAGE_RUNNING && job->life == life)
        rm_send(sim, plugin_request(sim, REQUEST_RESERVE, job), travel(sim));
}

static void step_ends(struct sim *sim, void *what, uint64_t life)
{
    struct job *job = what;
    if (job->stage != STAGE_RUNNING || job->life != life)
        return;
    struct request *request = plugin_request(sim, REQUEST_CLEANUP, job);
    request->cleanup.step = (int)rng_below(&sim->slurm.rng, STEPS);
    rm_send(sim, request, travel(sim));
}

/* For a job that hooks have reserved for, or do: what the plugin must not get, and not end. */
static void plugin_meddles(struct sim *sim, void *what, uint64_t life)
{
    struct job *job = what;
    if (job->stage != STAGE_RUNNING || job->life != life)
        return;
    bool asks = rng_chance(&sim->slurm.rng, 500);
    struct request *request = plugin_request(sim, asks ? REQUEST_RESERVE : REQUEST_RELEASE, job);
    request->wanted = (struct wanted){.uid = UID_UNKNOWN, .wish = WISH_ON};
    request->other = true;
    rm_send(sim, request, travel(sim));
}

void slurm_runs(struct sim *sim, struct job *job, int64_t for_ms)
{
    struct rng *rng = &sim->slurm.rng;
    if (!sim->profile.plugin[job->cluster])
        return;
    for (uint32_t left = rng_below(rng, STEPS_MAX_A_JOB + 1); left > 0; left--) {
        int64_t at = rng_between(rng, 0, for_ms);
        if (!job->by_plugin) {
            sim_later(sim, at, plugin_meddles, job, job->life);
            continue;
        }
        sim_later(sim, at, step_begins, job, job->life);
        sim_later(sim, rng_between(rng, at, for_ms), step_ends, job, job->life);
    }
}

/* Once: what is lost is found by the next list. */
void slurm_ends(struct sim *sim, struct job *job)
{
    rm_send(sim, plugin_request(sim, REQUEST_RELEASE, job), travel(sim));
}

/* ---- slurmctld ---- */

/* Cold: it has no job of before any more. Their step managers do not know. */
static void forgets_jobs(struct sim *sim, uint32_t cluster)
{
    for (size_t i = 0; i < sim->rm.job_count; i++) {
        struct job *job = sim->rm.jobs[i];
        if (job->cluster != cluster || !job->by_plugin ||
            (job->stage != STAGE_STARTING && job->stage != STAGE_RUNNING))
            continue;
        rm_send(sim, plugin_request(sim, REQUEST_RESERVE, job),
                rng_between(&sim->slurm.rng, 0, LIVES_ON_MS));
        rm_forget(sim, job);
    }
}

static void restarts(struct sim *sim, void *what, uint64_t cluster)
{
    struct slurm *slurm = &sim->slurm;
    (void)what;
    if (!fault_possible(&sim->faults, FAULT_EPILOG_LOST))
        return;
    bool cold = rng_chance(&slurm->rng, 300);
    slurm->away_ms[cluster] = sim->now_ms + rng_between(&slurm->rng, 0, AWAY_MAX_MS);
    sim_trace(sim, "slurm: slurmctld of %s restarts%s", cluster_name(sim, (uint32_t)cluster),
              cold ? ", without its jobs" : "");
    if (cold)
        forgets_jobs(sim, (uint32_t)cluster);
}

void slurm_storm(struct sim *sim)
{
    struct rng *rng = &sim->slurm.rng;
    for (uint32_t i = 0; i < sim->config.cluster_count; i++)
        if (sim->profile.plugin[i] && rng_chance(rng, 300))
            sim_later(sim, rng_between(rng, 0, sim->profile.storm_ms), restarts, NULL, i);
}

/* ---- the list ---- */

struct listing { /* of one answer */
    struct sim *sim;
    uint32_t cluster;
    size_t count, room;
    char (*ids)[JOB_ID_MAX + 1];
};

static void forget_listing(struct sim *sim, uint64_t cluster)
{
    if (sim->slurm.listings[cluster])
        free(sim->slurm.listings[cluster]->ids);
    free(sim->slurm.listings[cluster]);
    sim->slurm.listings[cluster] = NULL;
}

void slurm_release(struct sim *sim)
{
    for (uint32_t i = 0; i < CLUSTERS_MAX; i++)
        forget_listing(sim, i);
}

/* As broker/http/api/plugin.c, write_link. */
static void show(void *arg, const struct reservation *r)
{
    struct listing *listing = arg;
    struct sim *sim = listing->sim;
    bool found = reservation_adopted(r) && sim->profile.plant != PLANT_LIST_WITHOUT_FOUND;
    if (!is_number(r->job) || (r->origin != ORIGIN_PLUGIN && !found))
        return;
    if (strcmp(r->cluster, cluster_name(sim, listing->cluster)) != 0)
        sim_fail(sim, "I6", "the list of %s names %s-%s", cluster_name(sim, listing->cluster),
                 r->cluster, r->job);
    GROW(listing->ids, listing->count, listing->room);
    strcpy(listing->ids[listing->count++], r->job);
}

/* B9: what a job was told of, by the plugin, is in it. */
static void list_is_whole(struct sim *sim, const struct listing *listing)
{
    for (size_t i = 0; i < sim->rm.job_count; i++) {
        const struct job *job = sim->rm.jobs[i];
        const struct entry *e = model_entry(&sim->model, job->told_number);
        bool found =
            job->cluster != listing->cluster || !model_protects(job) || !e || !e->by_plugin;
        for (size_t at = 0; at < listing->count && !found; at++)
            found = strcmp(listing->ids[at], job->id) == 0;
        if (!found)
            sim_fail(sim, "B9", "the list of %s does not name %s",
                     cluster_name(sim, listing->cluster), job->id);
    }
}

static void list_heard(struct sim *sim, void *what, uint64_t cluster)
{
    struct listing *listing = sim->slurm.listings[cluster];
    (void)what;
    for (size_t i = 0; listing && i < listing->count; i++) {
        if (is_running(sim, listing->cluster, listing->ids[i]))
            continue;
        struct job *job = rm_find(sim, cluster_name(sim, listing->cluster), listing->ids[i]);
        struct request *request = plugin_request(sim, REQUEST_RELEASE, job);
        request->cluster = listing->cluster;
        request->other = true;
        snprintf(request->nodes, sizeof request->nodes, "%.30s", listing->ids[i]);
        rm_send(sim, request, travel(sim));
    }
    forget_listing(sim, cluster);
}

static bool may_show(struct sim *sim)
{
    return sim->edge.core &&
           (sim->brokers.count == 0 || (brokers_leader(sim) && !brokers_leader(sim)->paused &&
                                        brokers_may_act(sim, brokers_leader(sim))));
}

/* Arrives; what it shows must be on disk. */
static void list_arrives(struct sim *sim, void *what, uint64_t cluster)
{
    (void)what;
    if (!may_show(sim))
        return;
    if (!journal_idle(&sim->journal)) {
        sim_later(sim, LIST_WAITS_MS, list_arrives, NULL, cluster);
        return;
    }
    struct listing *listing = memory_zeroed(sizeof *listing);
    forget_listing(sim, cluster);
    sim->slurm.listings[cluster] = listing;
    *listing = (struct listing){.sim = sim, .cluster = (uint32_t)cluster};
    struct core_filter filter = {
        .cluster = cluster_name(sim, listing->cluster), .state = JOB_ACTIVE, .uid = -1, .limit = 5};
    if (sim->profile.plant == PLANT_LIST_OF_ALL)
        filter.cluster = NULL;
    do
        filter.after = core_page(sim->edge.core, &filter, show, listing);
    while (filter.after != 0);
    list_is_whole(sim, listing);
    sim_later(sim, travel(sim), list_heard, NULL, cluster);
}

static void list_begins(struct sim *sim, void *what, uint64_t cluster)
{
    (void)what;
    sim_later(sim, LIST_EVERY_MS, list_begins, NULL, cluster);
    if (sim->now_ms < sim->slurm.away_ms[cluster] ||
        fault_happens(&sim->faults, FAULT_REQUEST_LOST, &sim->slurm.rng))
        return;
    sim_later(sim, travel(sim), list_arrives, NULL, cluster);
}

/* ---- the broker's edge ---- */

static const struct reservation *find_own(const struct sim *sim, const struct request *request)
{
    const struct reservation *r =
        core_find(sim->edge.core, rm_cluster_name(sim, request->job), request->job->id);
    return r && r->state == JOB_ACTIVE && r->origin == ORIGIN_PLUGIN ? r : NULL;
}

/* GET: what is there; else its POST follows. */
static void looks(struct sim *sim, struct request *request,
                  void (*arrive)(struct sim *sim, void *what, uint64_t mark))
{
    const struct reservation *r = find_own(sim, request);
    if (r) {
        edge_show(sim, request, r);
        return;
    }
    request->looks = false;
    request->hops = 0;
    sim_later(sim, 2 * travel(sim), arrive, request, 0);
}

/* PATCH: I6: the step of this start of the job. False: 404. */
static bool finds_step(struct sim *sim, struct request *request)
{
    const struct reservation *r = find_own(sim, request);
    const struct job *job = request->job;
    if (!r)
        return false;
    request->cleanup.number = r->number;
    if (sim->profile.plant == PLANT_STEP_OF_BEFORE && job->told_before != 0)
        request->cleanup.number = job->told_before;
    if (model_protects(job) && job->life == request->life &&
        request->cleanup.number != job->told_number)
        sim_fail(sim, "I6", "%s has number %llu, and the end of its step is one of number %llu",
                 job->id, (unsigned long long)job->told_number,
                 (unsigned long long)request->cleanup.number);
    return true;
}

/* What was found under the name of one that hooks have is not of that one. */
static bool is_over(const struct request *request)
{
    return !request->job || !request->job->active || !request->job->by_plugin;
}

/* Its Slurm says that nothing there is of a job that runs. */
static void disclaim(struct sim *sim, const struct request *request)
{
    char name[FM_NAME_MAX + 1];
    fm_name_format(name, cluster_name(sim, request->cluster),
                   request->job ? request->job->id : request->nodes);
    fabric_claim(sim, name);
}

bool slurm_takes(struct sim *sim, struct request *request,
                 void (*arrive)(struct sim *sim, void *what, uint64_t mark))
{
    if (!sim->edge.core)
        return true;
    if (request->kind == REQUEST_RESERVE && request->looks) {
        looks(sim, request, arrive);
        return true;
    }
    if (request->kind == REQUEST_RELEASE && is_over(request))
        disclaim(sim, request);
    return request->kind == REQUEST_CLEANUP && !finds_step(sim, request);
}

void slurm_event(const struct sim *sim, const struct request *request, struct core_event *event)
{
    if (request->kind == REQUEST_RELEASE) {
        event->u.release.by_plugin = sim->profile.plant != PLANT_DELETE_AS_HOOKS;
        if (!request->job)
            event->u.release.job = request->nodes;
        return;
    }
    event->u.reserve.by_plugin = true;
    event->u.reserve.nodes = NULL;
    event->u.reserve.node_count = 0;
    event->u.reserve.vni_count = 0;
    event->u.reserve.launch = false;
    event->u.reserve.limit = sim->profile.plugin_limit[request->cluster];
}

/* ---- answers ---- */

/* As many as it wants, within what a job gets here. False: nothing says how many. */
static bool size_of(const struct sim *sim, uint32_t *most)
{
    struct error err;
    return sizing_addresses(&sim->config, most, &err) == 0;
}

/* B9: a reserve is refused for what its site has said, or because hooks have the job, and never for
 * the fabric manager's trouble: a step would fail. */
bool slurm_granted(struct sim *sim, const struct request *request, const struct told *told)
{
    const uint32_t wanted = sim->profile.plugin_limit[request->cluster];
    const struct reservation *r =
        core_find(sim->edge.core, cluster_name(sim, request->cluster), request->job->id);
    uint32_t most = 0;
    bool known = size_of(sim, &most);
    bool beyond = known && wanted > most;
    bool right = false;
    switch (told->kind) {
    case ANSWER_CREATED: {
        uint32_t gets = wanted > 0 && !beyond ? wanted : most;
        if (told->addresses != gets)
            sim_fail(sim, "I8", "%s wants %u addresses, gets %u and was to get %u",
                     request->job->id, wanted, told->addresses, gets);
        return true;
    }
    case ANSWER_SAME:
        return true;
    case ANSWER_CONFLICT:
        right = r && r->state == JOB_ACTIVE && r->origin == ORIGIN_JOB;
        break;
    case ANSWER_INVALID:
        right = beyond && sim->config.clusters[request->cluster].limit_refused;
        break;
    default:
        break;
    }
    if (!right)
        sim_fail(sim, "B9", "a reserve of %s by Slurm's plugin was answered: %s", request->job->id,
                 answer_word(told->kind));
    return false;
}

/* B9: what was found under the name goes: no administrator is needed. */
void slurm_deleted(struct sim *sim, const struct request *request)
{
    const char *id = request->job ? request->job->id : request->nodes;
    const struct reservation *r =
        core_find(sim->edge.core, cluster_name(sim, request->cluster), id);
    for (; r && is_over(request); r = r->older)
        if (r->origin == ORIGIN_FOUND && r->fm_side != FM_SIDE_NOTHING)
            sim_fail(sim, "B9", "Slurm has deleted %s, and what was found under its name stays",
                     id);
}
