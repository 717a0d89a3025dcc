/* SPDX-License-Identifier: Apache-2.0 */
#include "core/emit.h"
#include "core/interconnect/interconnect.h"
#include "core/reservation/sizing.h"

#include <assert.h>
#include <stdio.h>

/* HPE Slingshot: VNIs, traffic classes and, if the job is eligible, multicast addresses of the
 * fabric manager (F1, F2, F4, F12, F14). */

/* F12: what the job said, else what the site says, which allows it. False: it is refused. */
static bool choose_classes(struct core *core, struct drawing *drawing)
{
    const uint32_t asked = drawing->request->traffic_classes;
    const uint32_t classes = asked == 0 ? core->config.classes_default : asked;
    const uint32_t refused = classes & ~core->config.classes_allowed;
    drawing->record->traffic_classes = (uint8_t)classes;
    if (refused == 0)
        return true;
    drawing->field = "traffic_classes";
    drawing->detail = core_text(core,
                                "traffic class %s is not allowed here ([vni] "
                                "allowed_traffic_classes): leave it out",
                                traffic_class_word((int)(refused & -refused)));
    return false;
}

/* What else keeps the job from having VNIs; "": nothing, they are in use. */
static const char *why_too_few(struct core *core, uint32_t uid, bool too_much)
{
    assert(!too_much || core->vnis.free.count > 0);
    if (too_much)
        return core_text(core,
                         ", for others: released jobs of uid %u hold %u; run the job when their "
                         "nodes have reported, see mcastctl list --held",
                         uid, held_by(&core->vnis_held, uid));
    return core->vnis.suspect.count == 0 ? ""
                                         : ", others may be in use by jobs that the ledger does "
                                           "not know: see mcastctl status";
}

bool slingshot_may_be_old(const struct core *core)
{
    /* Before the first whole list after a start nothing shows that this ledger is older than the
     * jobs that run. If it is, they have the VNIs that it would give next (B11). */
    return core->founded && core->config.fm_present && core->link.listed_ms == 0;
}

/* Picks the VNIs: as many as the job said, else as the site says (F2). False when there are too
 * few, and the job has to fail (F4). */
static bool choose_vnis(struct core *core, struct reservation_record *rec,
                        const struct reserve_request *q, const char **detail)
{
    assert(core->config.vni_per_job <= VNI_PER_JOB_MAX && q->vni_count <= VNI_PER_JOB_MAX);
    bool none = q->node_count == 1 && !core->config.vni_single_node;
    unsigned wanted = q->vni_count >= 0 ? (unsigned)q->vni_count
                      : none            ? 0
                                        : core->config.vni_per_job;
    if (q->vni_count < 0 && wanted == 0 && q->shared_count > 0)
        wanted = 1; /* shared ones are beside its own */
    rec->vni_asked = (uint8_t)wanted;
    const uint32_t available = core->vnis.free.count;
    const bool too_much = wanted > 0 && available >= wanted &&
                          held_too_much(&core->vnis_held, q->uid, available, core->vnis.pool.count);
    if (!too_much && vnipool_pick(&core->vnis, wanted, slingshot_may_be_old(core), rec->vnis)) {
        rec->vni_count = (uint8_t)wanted;
        return true;
    }
    core->vnis_held.refused += too_much;
    const bool refused = core->config.vni_required || q->shared_count > 0;
    const char *why = why_too_few(core, q->uid, too_much);
    *detail = core_text(core, "failed to reserve %u VNI%s (%u available%s)%s", wanted,
                        wanted == 1 ? "" : "s", available, why,
                        refused && why[0] == '\0' ? ": run the job when others have ended" : "");
    return !refused;
}

/* Why a job cannot have it as one that it has already. */
static const char *why_not_named(struct core *core, uint16_t vni)
{
    const struct vnipool *pool = &core->vnis;
    assert(!idset_has(&pool->free, vni));
    if (!idset_has(&pool->pool, vni))
        return core_text(core, "VNI %u is not in [vni] pool: no job gets it, it need not be kept",
                         vni);
    return core_text(
        core, "VNI %u %s", vni,
        idset_has(&pool->live, vni)
            ? "is in use by another job: mcastctl list --output +vnis names it"
        : idset_has(&pool->quarantined, vni)
            ? "was of a job whose nodes are not all clean: mcastctl list --held"
        : idset_has(&pool->suspect, vni)
            ? "may be in use by a job that this ledger does not know (alarm old-ledger)"
            : "belongs to another partition of the fabric, or is a shared one");
}

/* Those that the job has already. ANSWER_CREATED, or with what it is refused. */
static enum answer_kind take_named(struct core *core, struct drawing *drawing)
{
    const struct reserve_request *q = drawing->request;
    struct reservation_record *rec = drawing->record;
    assert(q->vni_count >= 0 && q->vni_count <= VNI_PER_JOB_MAX);
    rec->vni_asked = rec->vni_count = (uint8_t)q->vni_count;
    for (unsigned i = 0; i < rec->vni_count; i++) {
        const uint16_t vni = rec->vnis[i] = q->vnis[i];
        if (idset_has(&core->vnis.free, vni))
            continue;
        drawing->field = "vnis";
        drawing->detail = why_not_named(core, vni);
        return idset_has(&core->vnis.pool, vni) ? ANSWER_CONFLICT : ANSWER_INVALID;
    }
    return ANSWER_CREATED;
}

/* Another's reservation, or one that cannot be distinguished from it, is under the job's name
 * (B11). */
static bool found_has_name(const struct core *core, const char *cluster, const char *job)
{
    assert(cluster && job);
    const struct reservation *r = ledger_newest(&core->ledger, cluster, job);
    while (r && (r->origin != ORIGIN_FOUND || r->fm_side == FM_SIDE_NOTHING))
        r = r->older;
    return r;
}

/* What is adopted gives back its addresses when this reserve is granted, and not before. */
static enum budget budget_after(struct core *core, const struct reservation_record *rec,
                                const struct reservation *adopted)
{
    assert(!adopted || adopted->state == JOB_ACTIVE);
    enum budget budget = core_budget(core, rec->cluster, rec->addresses);
    if (budget != BUDGET_NONE || !adopted)
        return budget;
    uint32_t back = adopted->addresses < rec->addresses ? adopted->addresses : rec->addresses;
    return core_budget(core, rec->cluster, rec->addresses - back) == BUDGET_NONE ? BUDGET_NONE
                                                                                 : BUDGET_SOON;
}

/* Fills in what becomes of the wish before anyone is asked; its reason may point into `why`. */
static void decide_hwcoll(struct core *core, struct drawing *drawing)
{
    struct reservation_record *rec = drawing->record;
    struct error *why = &drawing->why;
    const struct reserve_request *q = drawing->request;
    const bool relayed = q->by_plugin || core_cluster_config(core, rec->cluster)->relay;
    assert(rec->state == JOB_ACTIVE && rec->fm_side == FM_SIDE_NOTHING);
    rec->hwcoll =
        (uint8_t)(q->by_plugin ? sizing_limit(&core->config, q->limit, &rec->addresses, why)
                               : sizing_decide(&core->config, rec->wish, rec->node_count, q->limit,
                                               &rec->addresses, why));
    if (q->by_plugin) /* it gets a token whatever becomes of it: without one the step fails */
        rec->key = q->key;
    if (rec->hwcoll == HWCOLL_INELIGIBLE)
        rec->reason = why->text;
    if (rec->hwcoll != HWCOLL_WANTED)
        return;

    if (!q->by_plugin)
        rec->min_nodes = core->config.min_nodes;
    if (!core->config.fm_present) {
        rec->hwcoll = HWCOLL_UNAVAILABLE;
        rec->reason = "no fabric manager is configured";
        return;
    }
    enum budget budget = budget_after(core, rec, drawing->adopted);
    if (found_has_name(core, rec->cluster, rec->job)) {
        rec->hwcoll = HWCOLL_DENIED;
        rec->reason = "the fabric manager has a reservation under its name that this broker did "
                      "not make";
    } else if (budget == BUDGET_NONE) {
        rec->hwcoll = HWCOLL_DENIED;
        rec->reason = core_budget_words(core, rec->cluster, rec->addresses);
    } else if ((!relayed || rec->wish == WISH_REQUIRED) && !link_worth_waiting(&core->link)) {
        rec->hwcoll = HWCOLL_UNAVAILABLE;
        /* Without words about the job whose call met it. */
        rec->reason = core->link.silent
                          ? "the fabric manager does not answer"
                          : core_text(core, "the link to the fabric manager is %s: %s",
                                      link_state_word(core->link.state), link_cause(core));
    } else if (budget == BUDGET_NOW) {
        rec->fm_side = FM_SIDE_MAYBE; /* the intent, saved before the call leaves */
    }
    if (relayed && rec->hwcoll == HWCOLL_WANTED)
        rec->key = q->key;
}

static enum answer_kind draw_slingshot(struct core *core, struct drawing *drawing)
{
    struct reservation_record *rec = drawing->record;
    assert(rec->interconnect == INTERCONNECT_SLINGSHOT);
    assert(!drawing->adopted || reservation_adopted(drawing->adopted));
    if (drawing->request->by_plugin) {
        decide_hwcoll(core, drawing);
        return ANSWER_CREATED;
    }
    if (!choose_classes(core, drawing))
        return ANSWER_INVALID;
    if (drawing->request->vnis_named) {
        const enum answer_kind taken = take_named(core, drawing);
        if (taken != ANSWER_CREATED)
            return taken;
    } else if (!choose_vnis(core, rec, drawing->request, &drawing->detail)) {
        core_trace(core, TRACE_WARNING,
                   "%s-%s: %s -> refused; %u VNIs are in use, %u quarantined; what to do: mcastctl "
                   "status",
                   rec->cluster, rec->job, drawing->detail, core->vnis.live.count,
                   core->vnis.quarantined.count);
        drawing->field = "vni_count";
        return ANSWER_NO_VNIS;
    }
    const enum answer_kind verdict = share_draw(core, drawing);
    if (verdict != ANSWER_CREATED)
        return verdict;
    decide_hwcoll(core, drawing);
    return ANSWER_CREATED;
}

static void tell_slingshot(const struct core_config *config, const char *fm_url,
                           const struct reservation *r, const char *step, variable_fn *each,
                           void *arg)
{
    assert(r->interconnect == INTERCONNECT_SLINGSHOT);
    assert(fm_url);
    char text[FM_URL_SIZE + 64];
    const bool relayed = reservation_relayed(r);
    const char *job_url = relayed                      ? config->relay_url
                          : config->job_url[0] != '\0' ? config->job_url
                                                       : fm_url;

    /* An object that a new ledger found at the fabric manager has no token we know. The tasks of a
     * job that is relayed are all told the same, whatever comes of its reserve. */
    if (!relayed && (r->hwcoll != HWCOLL_RESERVED || secret_none(r->token)))
        return;

    /* Slurm's own plugin tells its tasks numbers of its own, and no CA. */
    const bool plugin = r->origin == ORIGIN_PLUGIN;
    if (!plugin) {
        (void)snprintf(text, sizeof text, "%u", r->min_nodes);
        each(arg, "FI_CXI_HWCOLL_MIN_NODES", text);
        (void)snprintf(text, sizeof text, "%u", r->addresses);
        each(arg, "FI_CXI_HWCOLL_ADDRS_PER_JOB", text);
    }
    fm_name_format(text, r->cluster, r->job);
    each(arg, "FI_CXI_COLL_JOB_ID", text);
    each(arg, "FI_CXI_COLL_JOB_STEP_ID", step ? step : "0");
    each(arg, "FI_CXI_COLL_MCAST_TOKEN", secret_expose(relayed ? r->key : r->token));
    (void)snprintf(text, sizeof text, "%s/fabric/collectives/multicasts", job_url);
    each(arg, "FI_CXI_COLL_FABRIC_MGR_URL", text);
    if (!plugin)
        each(arg, "FI_CXI_COLL_FABRIC_MGR_CACERT", relayed ? config->relay_ca : config->job_ca);
}

const struct interconnect interconnect_slingshot = {.driver = DRIVER_SERVICES | DRIVER_LAYOUT,
                                                    .draw = draw_slingshot,
                                                    .environment = tell_slingshot};
