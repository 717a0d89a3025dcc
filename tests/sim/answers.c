/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/answers.h"

#include "core/reservation/reservation.h"
#include "core/reservation/sizing.h"
#include "core/reservation/vnipool.h"
#include "tests/sim/named.h"
#include "tests/sim/sim.h"

#include <string.h>

static unsigned long long n(uint64_t number)
{
    return (unsigned long long)number;
}

/* F4: a refusal for want of VNIs is only right when there are too few, or are for other users. */
static void vnis_are_short(struct sim *sim, const struct request *request, unsigned asked)
{
    /* A shared VNI whose time is over is free at the end of the step, after all answers. */
    const unsigned gone = shares_gone_now(sim);
    unsigned available = model_vnis_available(sim);
    available -= gone < available ? gone : available;
    if (sim->edge.suspect ||
        admin_sees(sim, ALARM_OLD_LEDGER, NULL)) /* those that are not used may be in use */
        return;
    const uint32_t held = model_vnis_held(sim, request->wanted.uid);
    const bool too_much =
        asked > 0 && model_holds_too_much(held, available, vnipool_usable(&sim->config.vni_pool));
    sim->result.over_share += too_much && available >= asked;
    const bool required = sim->config.vni_required || request->wanted.shared_count > 0;
    if ((available >= asked && !too_much) || !required)
        sim_fail(sim, "F4", "%s was refused %u VNIs although %u are available, its user holds %u",
                 rm_job_name(request->job), asked, available, held);
}

static unsigned vnis_asked(const struct sim *sim, const struct request *request)
{
    if (request->wanted.interconnect != INTERCONNECT_SLINGSHOT)
        return 0;
    if (request->wanted.vni_count >= 0)
        return (unsigned)request->wanted.vni_count;
    bool none = request->wanted.node_count == 1 && !sim->config.vni_single_node;
    return none ? 0 : sim->config.vni_per_job;
}

static void hwcoll_is_told_right(struct sim *sim, const struct entry *e, const struct told *told)
{
    if ((told->hwcoll == HWCOLL_WANTED && !e->relayed) || told->hwcoll != e->saved_hwcoll)
        sim_fail(sim, "I7", "number %llu: told hwcoll %s, saved %s", n(e->number),
                 hwcoll_state_word(told->hwcoll), hwcoll_state_word(e->saved_hwcoll));
    if (told->hwcoll == HWCOLL_RESERVED && !told->token[0])
        sim_fail(sim, "F16", "number %llu: told reserved, without a token", n(e->number));
    if (told->hwcoll == HWCOLL_RESERVED && e->token[0] && strcmp(told->token, e->token) != 0)
        sim_fail(sim, "I7", "number %llu: told another token than before", n(e->number));
}

static void has_what_is_told(struct sim *sim, const struct entry *e, const struct told *told)
{
    hwcoll_is_told_right(sim, e, told);
    if (told->vni_count != e->vni_count ||
        memcmp(told->vnis, e->vnis, e->vni_count * sizeof *e->vnis) != 0)
        sim_fail(sim, "I7", "number %llu: told other VNIs than it has", n(e->number));
}

/* S4: a key that is its own, and the same whenever it asks again; B6. */
static void keys_are_told_right(struct sim *sim, const struct entry *e, const struct told *told,
                                enum interconnect_kind interconnect)
{
    bool has_pkey = interconnect == INTERCONNECT_OMNIPATH, has = has_pkey || e->relayed;
    if ((told->key[0] != '\0') != has || (told->pkey != 0) != has_pkey || told->pkey != e->pkey)
        sim_fail(sim, "S4", "number %llu: told partition key %u and %s key", n(e->number),
                 told->pkey, told->key[0] ? "a" : "no");
    if (e->key[0] && strcmp(e->key, told->key) != 0)
        sim_fail(sim, "S4", "number %llu: told another key than before", n(e->number));
    for (size_t at = 0; has && at < sim->model.count; at++)
        if (sim->model.entries[at] != e && strcmp(sim->model.entries[at]->key, told->key) == 0)
            sim_fail(sim, "S4", "number %llu: told the key of number %llu", n(e->number),
                     n(sim->model.entries[at]->number));
}

static void granted(struct sim *sim, const struct request *request, const struct told *told)
{
    const struct entry *e = model_at(sim, told->number);
    const struct job *job = request->job;
    if (!e || e->freed_batch || e->gone_batch || told->state != JOB_ACTIVE) {
        sim_fail(sim, "I2", "%s was told of number %llu, which is not an active reservation",
                 rm_job_name(job), n(told->number));
        return;
    }
    if (e->job != job)
        sim_fail(sim, "I7", "%s was told of the reservation of %s", rm_job_name(job),
                 rm_job_name(e->job));
    has_what_is_told(sim, e, told);
    if (!request->other)
        keys_are_told_right(sim, e, told, request->wanted.interconnect);
    unsigned asked = vnis_asked(sim, request);
    const unsigned shared = request->wanted.shared_count;
    bool fresh = told->kind == ANSWER_CREATED;
    if (fresh && told->vni_count != asked + shared &&
        (told->vni_count != 0 || shared > 0 || sim->config.vni_required))
        sim_fail(sim, "F2", "%s asked for %u VNIs and got %u", rm_job_name(job), asked,
                 told->vni_count);
    if (model_protects(job) && job->life == request->life && job->told_number != told->number)
        sim_fail(sim, "I7", "%s was told number %llu, then number %llu", rm_job_name(job),
                 n(job->told_number), n(told->number));
}

/* Required, and no other time would make a difference. */
static bool never_eligible(const struct sim *sim, const struct request *request)
{
    const struct core_config *config = &sim->config;
    const struct wanted *wanted = &request->wanted;
    const struct cluster_config *cluster = &config->clusters[request->cluster];
    uint32_t addresses;
    struct error err;
    if (wanted->wish != WISH_REQUIRED || request->nonsense != 0)
        return false;
    if (sizing_decide(config, wanted->wish, wanted->node_count, 0, &addresses, &err) !=
        HWCOLL_WANTED)
        return true;
    return (config->total_addresses > 0 && addresses > config->total_addresses) ||
           (cluster->budget > 0 && addresses > cluster->budget);
}

/* Asked for twice, and released before either was answered: nodes that have never heard of it speak
 * of no life that the core can tell. */
static void released_unanswered(struct sim *sim, const struct job *job)
{
    const struct reservation *r = core_find(sim->edge.core, rm_cluster_name(sim, job), job->id);
    struct entry *e = r ? model_at(sim, r->number) : NULL;
    if (e && !e->told)
        e->regranted |= r->repeated;
}

static void reserve_answered(struct sim *sim, const struct request *request,
                             const struct told *told)
{
    const struct job *job = request->job;
    bool relied = model_protects(job) && job->life == request->life;
    bool invalid = told->kind == ANSWER_INVALID || told->kind == ANSWER_NO_CLUSTER;
    if (request->by_plugin && !slurm_granted(sim, request, told)) {
        if (relied && !request->other)
            sim_fail(sim, "I7", "%s has number %llu and was answered: %s", job->id,
                     n(job->told_number), answer_word(told->kind));
        return;
    }
    if (told->kind == ANSWER_INVALID && never_eligible(sim, request))
        return;
    if (told->kind == ANSWER_INVALID && request->wanted.named_count > 0 &&
        sim->profile.reloads > 0 && !(relied && !request->other))
        return; /* the pool has become another one */
    /* Its profile was not there; but who has it keeps it (P3). */
    if (told->kind == ANSWER_INVALID && request->wanted.profile && request->nonsense == 0 &&
        sim->profile.reloads > 0 && !(relied && !request->other))
        return;
    if (invalid != (request->nonsense != 0)) {
        sim_fail(sim, "answers", "a %s reserve of %s was answered: %s",
                 request->nonsense ? "nonsensical" : "sensible", rm_job_name(job),
                 answer_word(told->kind));
        return;
    }
    if (invalid)
        return;
    switch (told->kind) {
    case ANSWER_CREATED:
    case ANSWER_SAME:
        if (told->kind == ANSWER_SAME && model_at(sim, told->number))
            model_at(sim, told->number)->regranted = true;
        if (request->other)
            fabric_reserved_anew(sim, job);
        if (request->other && relied)
            sim_fail(sim, "I7", "%s: another request under its id was granted", job->id);
        else
            granted(sim, request, told);
        named_granted(sim, request, told);
        return;
    case ANSWER_NO_VNIS:
        vnis_are_short(sim, request, vnis_asked(sim, request));
        break;
    case ANSWER_NO_SHARED:
    case ANSWER_SHARED_REFUSED:
        if (request->wanted.shared_count == 0)
            sim_fail(sim, "B1", "%s wants no shared VNI and was answered: %s", job->id,
                     answer_word(told->kind));
        break;
    case ANSWER_NO_PKEYS:
        if (request->wanted.interconnect != INTERCONNECT_OMNIPATH)
            sim_fail(sim, "S4", "%s was refused for want of partition keys", job->id);
        break;
    case ANSWER_NO_HWCOLL:
        if (request->wanted.wish != WISH_REQUIRED)
            sim_fail(sim, "F14", "%s was refused for want of hardware collectives", job->id);
        break;
    case ANSWER_CONFLICT:
        relied &= !request->other;
        if (!relied)
            named_refused(sim, request, told);
        break;
    case ANSWER_RELEASED:
        released_unanswered(sim, job);
        break;
    case ANSWER_OVERTAKEN:
        break;
    default:
        sim_fail(sim, "answers", "a reserve of %s was answered: %s", job->id,
                 answer_word(told->kind));
    }
    if (relied)
        sim_fail(sim, "I7", "%s has number %llu and was answered: %s", job->id, n(job->told_number),
                 answer_word(told->kind));
}

/* Of one number: no other is released, and it is refused only when that one is over. */
static bool number_answered(struct sim *sim, const struct request *request, const struct told *told)
{
    const struct entry *e = model_at(sim, request->number);
    if (request->number && told->number && told->number != request->number)
        sim_fail(sim, "I2", "a release of number %llu of %s released %llu", n(request->number),
                 rm_job_name(request->job), n(told->number));
    return request->number && told->kind == ANSWER_OTHER_LIFE &&
           (!e || e->freed_batch || e->gone_batch || e->epoch != sim->model.epoch);
}

static void release_answered(struct sim *sim, const struct request *request,
                             const struct told *told, uint64_t batch)
{
    struct entry *named = model_at(sim, told->number);
    if (!number_answered(sim, request, told) && told->kind != ANSWER_ACCEPTED &&
        told->kind != ANSWER_ALREADY_GONE && told->kind != ANSWER_NOT_FOUND)
        sim_fail(sim, "answers", "a release of %s was answered: %s", rm_job_name(request->job),
                 answer_word(told->kind));
    if (told->kind == ANSWER_ACCEPTED && named && !named->freed_batch) {
        named->freed_ms = sim->now_ms;
        named->freed_batch = batch;
    }
    if (request->by_plugin)
        slurm_deleted(sim, request);
    for (size_t at = 0; at < sim->model.count; at++) {
        const struct entry *e = sim->model.entries[at];
        const bool other_side = (request->by_plugin && !e->by_plugin) ||
                                (request->number && e->number != request->number);
        if (e->job == request->job && e->told && !e->freed_batch && !other_side)
            sim_fail(sim, "I2", "a release of %s was answered %s, and number %llu lives on",
                     rm_job_name(request->job), answer_word(told->kind), n(e->number));
    }
}

void answers_sync_begins(struct sim *sim, struct request *request)
{
    for (size_t i = 0; i < request->named && !request->named_job; i++) {
        const struct job *job =
            rm_find(sim, sim->config.clusters[request->cluster].name, request->jobview.active[i]);
        if (model_protects(job)) {
            request->named_job = job;
            request->named_number = job->told_number;
        }
    }
}

/* Only when it names nobody who relies on a reservation: else all the others would be kept. */
static void sync_refused(struct sim *sim, const struct request *request)
{
    const struct job *job = request->named_job;
    if (job && model_protects(job) && job->told_number == request->named_number)
        sim_fail(sim, "F20", "a sync that names %s was refused", job->id);
}

/* Whom it names is known to run, whatever the ledger knows. */
static void sync_answered(struct sim *sim, const struct request *request)
{
    const char *cluster = sim->config.clusters[request->cluster].name;
    for (size_t i = 0; i < request->named; i++)
        rm_find(sim, cluster, request->jobview.active[i])->named = true;
}

/* A node's word is taken as long as the reservation is there. */
static void report_answered(struct sim *sim, const struct request *request, const struct told *told,
                            uint64_t batch)
{
    struct entry *e = model_at(sim, request->report.number);
    if (e && (e->job != request->job || request->report.epoch != e->epoch))
        e = NULL; /* its number has been given out again */
    bool late = told->kind == ANSWER_GIVEN_BACK && request->report.state == NODE_CREATED;
    bool gone = told->kind == ANSWER_NOT_FOUND && (!e || e->gone_batch);
    bool no_place = told->kind == ANSWER_INVALID && e && rewind_gave(sim, e);
    if (e && told->kind == ANSWER_REPORTED && !e->reported_batch)
        e->reported_batch = batch;
    if (request->report.epoch != sim->model.epoch)
        return; /* it may be taken for one of another life */
    if (told->kind != ANSWER_REPORTED && !late && !gone && !no_place)
        sim_fail(sim, "answers", "node %s reports %s for number %llu and was answered: %s",
                 request->host->name, node_state_word(request->report.state),
                 n(request->report.number), answer_word(told->kind));
}

/* With what the job has been told, or will be; without a document when its reserve is refused. */
static void launch_is_answered(struct sim *sim, const struct request *request,
                               const struct told *told)
{
    const struct entry *e = model_at(sim, told->number);
    bool refused = told->kind == ANSWER_NOT_FOUND || told->kind == ANSWER_RELEASED ||
                   told->kind == ANSWER_NO_HWCOLL;
    if (told->kind != ANSWER_SAME && (!refused || model_protects(request->job)))
        sim_fail(sim, "answers", "the request of %s for a launch document was answered: %s",
                 rm_job_name(request->job), answer_word(told->kind));
    if (e && told->launch)
        has_what_is_told(sim, e, told);
}

void answers_given(struct sim *sim, const struct request *request, const struct told *told,
                   uint64_t batch)
{
    if (request->kind == REQUEST_RESERVE) {
        reserve_answered(sim, request, told);
        speed_judge(sim, request, told);
    } else if (request->kind == REQUEST_RELEASE)
        release_answered(sim, request, told, batch);
    else if (request->kind == REQUEST_REPORT) {
        report_answered(sim, request, told, batch);
        hosts_heard(sim, request, told, batch);
    } else if (request->kind == REQUEST_CLEANUP || request->kind == REQUEST_STEPS)
        asks_answered(sim, request, told);
    else if (request->kind == REQUEST_FENCE && told->kind != ANSWER_FENCED)
        sim_fail(sim, "answers", "a fence was answered: %s", answer_word(told->kind));
    else if (request->kind == REQUEST_BOOT && told->kind != ANSWER_REPORTED)
        sim_fail(sim, "answers", "a boot was answered: %s", answer_word(told->kind));
    else if (request->kind == REQUEST_ACCEPT_LOSS && told->kind != ANSWER_LOSS_ACCEPTED)
        sim_fail(sim, "answers", "accept-loss was answered: %s", answer_word(told->kind));
    else if (request->kind == REQUEST_CLAIM && told->kind != ANSWER_CLAIMED)
        sim_fail(sim, "answers", "a claim was answered: %s", answer_word(told->kind));
    else if (request->kind == REQUEST_LAUNCH)
        launch_is_answered(sim, request, told);
    else if (request->kind == REQUEST_JOIN || request->kind == REQUEST_LEAVE)
        joins_given(sim, request, told);
    else if (request->kind == REQUEST_NICS)
        nics_given(sim, request, told);
    else if (request->kind == REQUEST_SHARE || request->kind == REQUEST_UNSHARE)
        shares_given(sim, request, told->kind);
    else if (request->kind == REQUEST_SUM)
        sums_heard(sim, request, told, batch);
    else if (request->kind == REQUEST_SYNC && told->kind == ANSWER_INVALID)
        sync_refused(sim, request);
    else if (request->kind == REQUEST_SYNC && told->kind == ANSWER_SYNCED)
        sync_answered(sim, request);
    else if (request->kind == REQUEST_SYNC)
        sim_fail(sim, "answers", "a sync was answered: %s", answer_word(told->kind));
}

void answers_told(struct sim *sim, const struct request *request)
{
    const struct told *told = &request->told;
    struct entry *e = model_at(sim, told->number);
    struct job *job = request->job;
    if (request->kind == REQUEST_CLEANUP || request->kind == REQUEST_STEPS) {
        asks_told(sim, request);
        return;
    }
    shares_told(sim, request, told->kind, told->shared, told->expires_ms);
    if (!e)
        return;
    if (told->kind == ANSWER_ACCEPTED)
        e->free_told = true;
    bool reserved = request->kind == REQUEST_RESERVE &&
                    (told->kind == ANSWER_CREATED || told->kind == ANSWER_SAME);
    if (!reserved && !told->launch)
        return;
    e->told = true;
    e->told_hwcoll = told->hwcoll;
    memcpy(e->key, told->key, sizeof e->key);
    if (told->hwcoll == HWCOLL_RESERVED)
        memcpy(e->token, told->token, sizeof e->token);
    if (reserved && job->active && job->life == request->life && !request->other) {
        job->told = true;
        job->told_number = told->number;
        if (e->freed_batch)
            sim_fail(sim, "I3", "number %llu was released before its job %s was told of it",
                     n(e->number), job->id);
    }
}
