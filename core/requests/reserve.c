/* SPDX-License-Identifier: Apache-2.0 */
#include "core/interconnect/interconnect.h"
#include "core/relay/relay.h"
#include "core/requests/requests.h"
#include "core/reservation/nodeset.h"
#include "core/reservation/sizing.h"

#include <assert.h>
#include <string.h>

/* A job wants its VNIs and, if it is eligible, multicast addresses (F1, F2, F4, F14). */

static void answer_refused(struct core *core, uint64_t ticket, enum answer_kind kind,
                           const char *field, const char *detail)
{
    assert(detail);
    core_answer(core, ticket, kind, NULL, detail)->field = field;
}

/* The field that no reservation may have, or NULL. */
static const char *invalid_field(const struct reserve_request *q, const char **detail)
{
    assert(q->job);
    if (!job_id_valid(q->job)) {
        *detail = "a job id is 1-128 of A-Z a-z 0-9 . _ : @ + -, and not \".\" or \"..\"";
        return "job";
    }
    if (q->node_count == 0 && !q->by_plugin) {
        *detail = "a job has at least one node: give nodes or node_count";
        return "node_count";
    }
    if (q->vni_count < -1 || q->vni_count > VNI_PER_JOB_MAX) {
        *detail = "a job can have 0-4 VNIs";
        return "vni_count";
    }
    if (q->shared_count > SHARED_VNIS_PER_JOB_MAX) {
        *detail = "a job can have 3 shared VNIs";
        return "shared_vnis";
    }
    if (q->traffic_classes > TC_ALL) {
        *detail = "an unknown traffic class";
        return "traffic_classes";
    }
    return NULL;
}

static enum hwcoll_wish wish_of(const struct reserve_request *q)
{
    assert(q->wish <= WISH_REQUIRED);
    return q->wish == 0 ? WISH_AUTO : q->wish;
}

/* By their names, which are theirs as long as a job has them. */
static bool shares_the_same(const struct core *core, const struct reservation *r,
                            const struct reserve_request *q)
{
    bool same = r->shared_count == q->shared_count;
    for (unsigned i = 0; same && i < q->shared_count; i++) {
        const struct shared_vni *one = shared_by_name(&core->shared, q->shared[i]);
        same = one && one->record.vni == r->vnis[reservation_own_vnis(r) + i];
    }
    return same;
}

/* The first field in which a request differs from what the job has, or NULL. What a request leaves
 * to the site, or to the profile that it names, is the same as whatever was chosen, also when the
 * site has changed that since or removed the profile (I7). */
static const char *conflicting_field(const struct core *core, const struct reservation *r,
                                     const struct reserve_request *q)
{
    assert(reservation_valid(r));
    assert(r->state == JOB_ACTIVE);
    if (q->by_plugin) /* it cuts what it asks for again as before */
        return NULL;
    if (r->uid != q->uid)
        return "uid";
    if (r->node_count != q->node_count)
        return q->nodes ? "nodes" : "node_count";
    if (!core_same_text(r->nodes, q->nodes))
        return "nodes";
    if (r->cores_per_node != q->cores_per_node)
        return "cores_per_node";
    if (r->tasks_per_node != q->tasks_per_node)
        return "tasks_per_node";
    if (r->cpus_per_task != q->cpus_per_task)
        return "cpus_per_task";
    if (q->interconnect >= 0 && r->interconnect != q->interconnect)
        return "interconnect";
    if (!shares_the_same(core, r, q))
        return "shared_vnis";
    if (q->vni_count >= 0 && r->vni_asked - r->shared_count != q->vni_count)
        return "vni_count";
    for (int i = 0; q->vnis_named && i < q->vni_count; i++)
        if (r->vnis[i] != q->vnis[i])
            return "vnis";
    if ((q->wish != 0 || !q->profile) && r->wish != wish_of(q))
        return "hwcoll";
    if (q->traffic_classes != 0 && r->traffic_classes != q->traffic_classes)
        return "traffic_classes";
    if (!core_same_text(reservation_profile(r), q->profile))
        return "profile";
    return NULL;
}

static void wait_for_outcome(struct core *core, uint64_t ticket, struct reservation *r)
{
    assert(reservation_waits(r));
    core_wait(&r->op->waiters, ticket)->repeat = true;
    core_give_up_in_time(core, r);
    core_act(core, r);
}

/* Before a document of it may leave: also when [vni] hold is a time by its end, silence of its
 * nodes is no sign that they have no services (I1). */
static void save_launched(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    struct reservation_record rec = reservation_record(r);
    if (r->launched || r->state != JOB_ACTIVE || !r->nodes)
        return;
    rec.launched = 1;
    rec.regranted |= r->repeated;
    (void)core_save(core, &rec);
}

void core_launch(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_LAUNCH);
    struct reservation *r =
        ledger_newest(&core->ledger, event->u.launch.cluster, event->u.launch.job);
    if (!r) {
        core_answer(core, event->ticket, ANSWER_NOT_FOUND, NULL, "the job has no reservation");
        return;
    }
    if (core_judge_launch(core, r) == LAUNCH_UNSAVED)
        save_launched(core, r);
    if (reservation_waits(r)) /* its reserve may be refused yet, and frees its VNIs then */
        wait_for_outcome(core, event->ticket, r);
    else
        core_answer(core, event->ticket, ANSWER_SAME, r, NULL);
}

/* Slurm's plugin and Slurm's hooks, or another resource manager, for the same job. */
static bool refuse_other_side(struct core *core, uint64_t ticket, const struct reserve_request *q,
                              const struct reservation *r)
{
    if (q->by_plugin == (r->origin == ORIGIN_PLUGIN))
        return false;
    answer_refused(core, ticket, ANSWER_CONFLICT, "job",
                   core_text(core,
                             "job %s of %s has a reservation that was made by %s: let one of the "
                             "two reserve for this cluster",
                             r->job, r->cluster,
                             q->by_plugin
                                 ? "its resource manager's hooks, not by Slurm's own plugin"
                                 : "Slurm's own plugin (fm_url), not by hooks"));
    return true;
}

/* As good as being named by a sync, and for a job that may have started since: a list that was made
 * before holds nothing against it (F20). */
static void note_sign_of_life(const struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    r->unnamed_ms = 0;
    r->alive_ms = core->now_ms;
}

/* A job of Slurm's own plugin that starts again under its id, when its end was lost, looks at what
 * it has, and reserves nothing. */
void core_alive(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_ALIVE);
    struct reservation *r = ledger_by_number(&core->ledger, event->u.alive);
    if (r && r->state == JOB_ACTIVE)
        note_sign_of_life(core, r);
}

static void repeat_reserve(struct core *core, uint64_t ticket, const struct reserve_request *q,
                           struct reservation *r)
{
    assert(reservation_valid(r));
    assert(r->state == JOB_ACTIVE && !reservation_adopted(r));
    if (refuse_other_side(core, ticket, q, r))
        return;
    const char *field = conflicting_field(core, r, q);
    if (!field)
        core_granted_again(core, r);
    if (!field && q->launch)
        save_launched(core, r);
    note_sign_of_life(core, r);
    if (field)
        answer_refused(
            core, ticket, ANSWER_CONFLICT, field,
            core_text(core,
                      "job %s of %s has a reservation (number %llu) that differs in %s: release "
                      "it first, or repeat the request unchanged",
                      r->job, r->cluster, (unsigned long long)r->number, field));
    else if (reservation_waits(r))
        wait_for_outcome(core, ticket, r);
    else
        core_answer(core, ticket, ANSWER_SAME, r, core_warning(core, r));
}

static void create_reservation(struct core *core, uint64_t ticket,
                               const struct reservation_record *rec)
{
    assert(rec->number == core->last_number + 1);
    struct reservation *r = core_save(core, rec);
    r->alive_ms = core->now_ms;
    tombstones_forget(&core->tombstones, rec->cluster, rec->job);
    if (r->hwcoll == HWCOLL_WANTED)
        core_give_up_in_time(core, r);
    if (reservation_relayed(r))
        relay_create(core, r);
    if (reservation_waits(r)) {
        core_wait(&r->op->waiters, ticket);
    } else if (r->hwcoll == HWCOLL_WANTED) {
        core_answer(core, ticket, ANSWER_CREATED, r, core_warning(core, r));
    } else {
        if (r->hwcoll == HWCOLL_DENIED || r->hwcoll == HWCOLL_UNAVAILABLE)
            core_trace_event(core, r, core_outcome_event(r->hwcoll),
                             r->hwcoll == HWCOLL_DENIED ? TRACE_NOTICE : TRACE_INFO,
                             "%s -> the job runs without hardware collectives", r->reason);
        core_publish(core, core_outcome_event(r->hwcoll), r,
                     r->reason ? r->reason : "hardware collectives are off", 0);
        core_answer(core, ticket, ANSWER_CREATED, r, core_warning(core, r));
    }
    core_act(core, r);
}

/* Whether the same request can be granted at another time, so that to repeat it makes sense. */
static bool can_ever_be(const struct core *core, const struct cluster_config *cluster,
                        const struct reservation_record *rec)
{
    assert(cluster);
    uint32_t total = core->config.total_addresses;
    return rec->hwcoll != HWCOLL_INELIGIBLE && rec->hwcoll != HWCOLL_OFF &&
           (total == 0 || rec->addresses <= total) &&
           (cluster->budget == 0 || rec->addresses <= cluster->budget);
}

/* A node reports once, so the VNIs of a job that has one twice would wait for ever (F3). Of new
 * reservations only: what a ledger of before has stays, and is granted again. */
static const char *fault_of_nodes(struct core *core, const char *nodes)
{
    char twice[NODELIST_NAME_MAX + 1];
    if (!nodes || nodeset_once(nodes, twice))
        return NULL;
    if (twice[0] != '\0')
        return core_text(core, "nodes names %.64s twice: name each node of the job once", twice);
    return core_text(core,
                     "nodes names more than %d nodes by ranges within their names, too many to be "
                     "compared: end names with their range, as \"n[1-70000]\", or give node_count "
                     "instead",
                     NODESET_RUNS_MAX);
}

static const char *fault_of_limit(struct core *core, const struct cluster_config *cluster,
                                  const struct reserve_request *q)
{
    assert(cluster);
    uint32_t most;
    if (!q->by_plugin || !cluster->limit_refused ||
        sizing_addresses(&core->config, &most, NULL) < 0 || q->limit <= most)
        return NULL;
    return core_text(core,
                     "%u addresses are wanted, a job gets %u here: lower hwcoll_addrs_per_job in "
                     "Slurm's SwitchParameters",
                     q->limit, most);
}

/* adopted: what was taken for this job's, and ends when it is reserved anew; or NULL. A request
 * that is refused ends nothing: a prolog that ran twice, while the job uses what was adopted (I11).
 */
static void reserve_new(struct core *core, uint64_t ticket, const struct reserve_request *asked,
                        const struct cluster_config *cluster, struct reservation *adopted)
{
    assert(!adopted || reservation_adopted(adopted));
    struct reserve_request resolved = *asked;
    const struct reserve_request *q = &resolved;
    const char *unknown = profile_resolve(core, &resolved);
    if (unknown) {
        answer_refused(core, ticket, ANSWER_INVALID, "profile", unknown);
        return;
    }
    struct reservation_record rec = {
        .number = core->last_number + 1,
        .cluster = q->cluster,
        .job = q->job,
        .nodes = q->nodes,
        .profile = q->profile,
        .uid = q->uid,
        .node_count = q->node_count,
        .cores_per_node = q->cores_per_node,
        .tasks_per_node = q->tasks_per_node,
        .cpus_per_task = q->cpus_per_task,
        .interconnect = (uint8_t)(q->interconnect >= 0 ? q->interconnect : cluster->interconnect),
        .wish = (uint8_t)wish_of(q),
        .state = JOB_ACTIVE,
        .origin = q->by_plugin ? ORIGIN_PLUGIN : ORIGIN_JOB,
        .launched = q->launch && q->nodes,
        .created_ms = core->now_ms};
    struct drawing drawing = {.request = q, .adopted = adopted, .record = &rec};
    const char *twice = fault_of_nodes(core, q->nodes);
    const char *too_many = fault_of_limit(core, cluster, q);
    if (twice || too_many) {
        answer_refused(core, ticket, ANSWER_INVALID, twice ? "nodes" : "mcastLimit",
                       twice ? twice : too_many);
        return;
    }
    const enum answer_kind verdict = interconnect_of(rec.interconnect)->draw(core, &drawing);
    if (verdict != ANSWER_CREATED) {
        answer_refused(core, ticket, verdict, drawing.field, drawing.detail);
        return;
    }
    if (rec.wish == WISH_REQUIRED && rec.hwcoll != HWCOLL_WANTED) {
        answer_refused(
            core, ticket, can_ever_be(core, cluster, &rec) ? ANSWER_NO_HWCOLL : ANSWER_INVALID,
            "hwcoll",
            core_text(core, "hardware collectives are required but not available: %s", rec.reason));
        return;
    }
    if (adopted)
        core_begin_release(core, adopted, "the job was reserved anew");
    create_reservation(core, ticket, &rec);
}

void core_reserve(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_RESERVE);
    const struct reserve_request *q = &event->u.reserve;
    const char *detail = NULL, *field;
    const struct cluster_config *cluster = core_cluster_config(core, q->cluster);
    if (!cluster) {
        char text[NO_CLUSTER_SIZE];
        answer_refused(
            core, event->ticket, ANSWER_NO_CLUSTER, "cluster",
            core_text(core, "%s", core_config_no_cluster(&core->config, q->cluster, text)));
        return;
    }
    if ((field = invalid_field(q, &detail))) {
        answer_refused(core, event->ticket, ANSWER_INVALID, field, detail);
        return;
    }
    if (!q->by_plugin && tombstones_get(&core->tombstones, q->cluster, q->job, core->now_ms) ==
                             TOMBSTONE_NEVER_KNOWN) {
        /* Once: a job that really starts again under its old id asks again and gets it. */
        tombstones_forget(&core->tombstones, q->cluster, q->job);
        core_trace(core, TRACE_NOTICE, "%s-%s: its release came before its reserve -> not reserved",
                   q->cluster, q->job);
        answer_refused(
            core, event->ticket, ANSWER_OVERTAKEN, NULL,
            "the job was released before this reserve arrived; nothing was reserved. If it really "
            "starts (again), repeat the request");
        return;
    }
    struct reservation *r = ledger_newest(&core->ledger, q->cluster, q->job);
    if (r && r->state == JOB_ACTIVE && !reservation_adopted(r)) {
        repeat_reserve(core, event->ticket, q, r);
        return;
    }
    reserve_new(core, event->ticket, q, cluster, r && r->state == JOB_ACTIVE ? r : NULL);
}
