/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "core/reconcile/reconcile.h"
#include "core/requests/requests.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Nodes report what became of a job's CXI services: its VNIs are quarantined until each has
 * reported that none is left (F3), or [vni] hold is over. */

enum { BOOT_SLACK_MS = 300 * 1000 }; /* clocks may differ by it, as for launch documents */

/* A life that only nodes know has a name of its own, "<job>@<number>": so that nothing takes it for
 * the job's newest life. */
static void name_unknown_life(char out[static JOB_ID_MAX + 1], const char *job, uint64_t number)
{
    assert(job);
    (void)snprintf(out, JOB_ID_MAX + 1, "%.100s@%llu", job, (unsigned long long)number);
}

static struct reservation *find_by_number(struct core *core, const char *cluster, const char *job,
                                          uint64_t number)
{
    struct reservation *r = ledger_newest(&core->ledger, cluster, job);
    while (r && r->number != number)
        r = r->older;
    return r;
}

static bool vnis_given_back(const struct reservation *r)
{
    assert(reservation_valid(r));
    return r->state == JOB_RELEASING && r->vni_count == 0 && r->vni_asked > 0;
}

/* What holds its VNIs, if anything does. */
static struct reservation *find_life(struct core *core, const char *cluster, const char *job,
                                     uint64_t number)
{
    assert(cluster && job);
    char name[JOB_ID_MAX + 1];
    struct reservation *r = find_by_number(core, cluster, job, number), *unknown;
    if (r && !vnis_given_back(r))
        return r;
    name_unknown_life(name, job, number);
    unknown = ledger_newest(&core->ledger, cluster, name);
    return unknown && unknown->node_number == number ? unknown : r;
}

/* A later report of the node is known; or this is the one that a sum has overridden, once more. */
static bool is_overtaken(const struct reservation *r, const struct core_event *event)
{
    assert(event->kind == CORE_NODE_REPORT);
    const struct node_report *known = nodes_find(r->reported, event->u.report.node);
    const uint64_t order = event->u.report.order;
    return known && order != 0 && order < known->order + known->summed;
}

/* Of the nodes that it named; when it named none, no more than it has. */
static bool has_node(const struct reservation *r, const char *node)
{
    assert(reservation_valid(r));
    if (r->node_number != 0)
        return true; /* it has the nodes that say so */
    if (r->nodes)
        return nodes_is_of_job(r->reported, r->nodes, r->node_count, node);
    return nodes_find(r->reported, node) || !r->reported || r->reported->count < r->node_count;
}

static void save_regranted(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    struct reservation_record rec = reservation_record(r);
    if (r->regranted || (!r->reported && !r->launched))
        return;
    rec.regranted = 1;
    (void)core_save(core, &rec);
}

void core_granted_again(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    assert(r->state == JOB_ACTIVE);
    r->repeated = true;
    save_regranted(core, r);
}

static void save_report(struct core *core, struct reservation *r, const struct node_record *record)
{
    assert(reservation_valid(r));
    assert(record->number == r->number);
    const char *services = record->services;
    struct record saved = {.kind = RECORD_NODE, .u.node = *record};
    saved.u.node.sums = r->reported ? r->reported->sums : 0;
    core_save_record(core, saved);
    if (r->repeated)
        save_regranted(core, r);
    core_trace_of(core, r, TRACE_DEBUG, "node %s: services %s%s%s; %u of %u nodes are clean",
                  record->node, node_state_word(record->state), services ? ": " : "",
                  services ? services : "", nodes_clean(r->reported), r->node_count);
}

static void report_lingering(struct core *core, struct reservation *r, const char *nodes,
                             const char *services)
{
    assert(reservation_valid(r));
    assert(nodes);
    const char *detail = core_text(core, "node %s: CXI services cannot be destroyed%s%s", nodes,
                                   services ? ": " : "", services ? services : "");
    core_publish(core, EVENT_LINGERING, r, detail, 0);
    core_trace_event(core, r, EVENT_LINGERING, TRACE_WARNING,
                     "%s -> drain the node; its VNIs stay quarantined until it is clean or "
                     "fenced",
                     detail);
}

/* VNIs that the node names, and that no reservation has for itself, become the record's behind
 * those that it has; each once. Shared ones are no other's: they are quarantined for this one, too
 * (B1). */
static void add_vnis(const struct core *core, const struct core_event *event,
                     struct reservation_record *rec)
{
    assert(event->kind == CORE_NODE_REPORT);
    for (unsigned i = 0; i < event->u.report.vni_count && rec->vni_count < VNI_PER_JOB_MAX; i++) {
        const uint16_t vni = event->u.report.vnis[i];
        const bool shared = shared_by_vni(&core->shared, vni);
        bool taken = !shared &&
                     (idset_has(&core->vnis.live, vni) || idset_has(&core->vnis.quarantined, vni));
        for (uint8_t j = 0; j < rec->vni_count; j++)
            taken |= rec->vnis[j] == vni;
        if (taken)
            continue;
        uint8_t at = rec->vni_count++;
        for (; !shared && at > rec->vni_count - 1 - rec->shared_count; at--)
            rec->vnis[at] = rec->vnis[at - 1];
        rec->vnis[at] = vni;
        rec->shared_count += shared;
    }
}

/* The report of one node stops no others: only two nodes can quarantine all VNIs (B11). */
static void suspect_by_node(struct core *core, const struct core_event *event)
{
    assert(event->u.report.number > core->last_number);
    const char *cluster = event->u.report.cluster, *job = event->u.report.job;
    const char *node = event->u.report.node;
    bool another = core->suspicion.node[0] != '\0' && strcmp(core->suspicion.node, node) != 0;
    (void)snprintf(core->suspicion.node, sizeof core->suspicion.node, "%s", node);
    alarm_raise(
        core, ALARM_OLD_LEDGER, cluster,
        "node %s has CXI services of reservation %llu of %s-%s, and this ledger has given no "
        "number above %llu: it may have been restored. If the node is not to be believed: "
        "mcastctl fence %s",
        node, (unsigned long long)event->u.report.number, cluster, job,
        (unsigned long long)core->last_number, node);
    if (another)
        suspect_begin(core, cluster, job,
                      "has CXI services, and this ledger never gave its number");
}

/* By its reports of lives that the ledger does not know one node can quarantine a few VNIs, not the
 * whole pool (B11). Counts it; the first free entry ends the list. */
static bool may_take_in(struct core *core, const char *node)
{
    assert(node);
    for (size_t i = 0; core->suspicion.unknown_lives < UNKNOWN_LIVES_MAX && i < UNKNOWN_LIVES_MAX;
         i++) {
        struct unknown_node *known = &core->suspicion.nodes[i];
        bool first = known->name[0] == '\0';
        if (!first && strcmp(known->name, node) != 0)
            continue;
        if (first) {
            (void)snprintf(known->name, sizeof known->name, "%s", node);
            known->lives = 0;
            if (i + 1 < UNKNOWN_LIVES_MAX)
                core->suspicion.nodes[i + 1].name[0] = '\0';
        }
        return known->lives++ < UNKNOWN_LIVES_PER_NODE;
    }
    return false;
}

/* Services of a reservation that this ledger does not know, or whose VNIs are given back. They may
 * be in use on the node, so they are quarantined until the node reports otherwise (I1). NULL:
 * nothing can be quarantined. */
static struct reservation *take_in_unknown_life(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_NODE_REPORT);
    const char *cluster = event->u.report.cluster, *job = event->u.report.job;
    uint64_t number = event->u.report.number;
    bool future = number > core->last_number;
    char name[JOB_ID_MAX + 1];
    name_unknown_life(name, job, number);
    struct reservation_record rec = {.number = core->last_number + 1,
                                     .node_number = number,
                                     .cluster = cluster,
                                     .job = name,
                                     .uid = UID_UNKNOWN,
                                     .wish = WISH_OFF,
                                     .state = JOB_RELEASING,
                                     .hwcoll = HWCOLL_OFF,
                                     .created_ms = core->now_ms,
                                     .released_ms = core->now_ms};
    if (!core_cluster_config(core, cluster) || !job_id_valid(job) ||
        (event->u.report.state != NODE_LINGERING &&
         !(future && event->u.report.state == NODE_CREATED)))
        return NULL;
    add_vnis(core, event, &rec);
    bool taken_in = rec.vni_count > 0 && may_take_in(core, event->u.report.node);
    core_trace(core, TRACE_WARNING,
               "node %s has CXI services of %s-%s, reservation %llu, which %s -> %u of "
               "its %u VNIs stay quarantined until it reports that they are gone%s",
               event->u.report.node, cluster, job, (unsigned long long)number,
               future ? "this ledger never gave" : "is over", taken_in ? rec.vni_count : 0,
               event->u.report.vni_count,
               taken_in && rec.vni_count == event->u.report.vni_count
                   ? ""
                   : "; the others are in use by another job, or the node reports too many such "
                     "reservations: end the processes there");
    if (!taken_in)
        return NULL;
    if (future)
        suspect_by_node(core, event);
    return core_save(core, &rec);
}

/* VNIs of a life that was taken in, which another job had then and has no more. */
static void keep_more_vnis(struct core *core, struct reservation *r, const struct core_event *event)
{
    assert(event->u.report.state == NODE_LINGERING);
    struct reservation_record rec = reservation_record(r);
    add_vnis(core, event, &rec);
    if (rec.vni_count > r->vni_count)
        (void)core_save(core, &rec);
}

static void answer_not_found(struct core *core, uint64_t ticket, const char *cluster,
                             const char *job, uint64_t number)
{
    assert(cluster && job);
    core_answer(core, ticket, ANSWER_NOT_FOUND, NULL,
                core_text(core,
                          "job %.130s of %.40s has no reservation %llu, or not any more: services "
                          "that are left of that one are in use by no job, destroy them",
                          job, cluster, (unsigned long long)number));
}

static struct answer *answer_no_node(struct core *core, uint64_t ticket, const char *job,
                                     const char *node)
{
    assert(job && node);
    return core_answer(core, ticket, ANSWER_INVALID, NULL,
                       core_text(core, "job %.130s has no node %.64s", job, node));
}

static void count_traffic(struct core *core, struct reservation *r,
                          const struct traffic_record *traffic)
{
    struct core_traffic_sums *sums = &core->traffic_sums;
    assert(r->reported);
    traffic_merge(&r->reported->traffic, traffic);
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
        sums->amounts[kind] += traffic->amounts[kind];
    sums->reports += traffic->told;
    sums->unclear += traffic->unclear;
}

/* It counts once for each start of the job on the node: the first time it says that it has ended.
 */
static void add_traffic(struct core *core, struct reservation *r, const struct core_event *event,
                        bool ended)
{
    assert(event->kind == CORE_NODE_REPORT);
    struct traffic_record *one = NULL;
    if (!event->u.report.traffic || ended || event->u.report.state == NODE_CREATED)
        return;
    traffic_add(&one, event->u.report.node, event->u.report.traffic);
    count_traffic(core, r, one);
    traffic_destroy(one);
}

void core_node_report(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_NODE_REPORT);
    assert(event->u.report.state != NODE_FENCED);
    const char *cluster = event->u.report.cluster, *job = event->u.report.job;
    const char *node = event->u.report.node, *services = event->u.report.services;
    enum node_state state = event->u.report.state;
    struct reservation *r = find_life(core, cluster, job, event->u.report.number);
    if (r && !has_node(r, node)) {
        answer_no_node(core, event->ticket, job, node)->field = "node";
        return;
    }
    if (!r || (vnis_given_back(r) && !is_overtaken(r, event))) {
        struct reservation *taken_in = take_in_unknown_life(core, event);
        r = taken_in ? taken_in : r;
    }
    if (!r) {
        answer_not_found(core, event->ticket, cluster, job, event->u.report.number);
        return;
    }
    if (state == NODE_CREATED && vnis_given_back(r)) {
        core_answer(core, event->ticket, ANSWER_GIVEN_BACK, NULL,
                    core_text(core,
                              "job %.130s is over and its VNIs are given back: destroy the "
                              "services",
                              job));
        return;
    }
    if (state == NODE_LINGERING && r->state == JOB_RELEASING && r->node_number != 0 &&
        !is_overtaken(r, event))
        keep_more_vnis(core, r, event);
    const struct node_report *known = nodes_find(r->reported, node);
    uint64_t order = event->u.report.order;
    if (!known && r->node_number != 0) { /* how many it has is not known: count them */
        struct reservation_record rec = reservation_record(r);
        rec.node_count++;
        (void)core_save(core, &rec);
    }
    bool old = is_overtaken(r, event);
    bool news = !old && (!known || known->state != state ||
                         !core_same_text(node_report_services(known), services));
    const bool ended = known ? known->state != NODE_CREATED
                             : r->reported && nodeset_has(&r->reported->summed, node);
    if (news || (!old && order > known->order))
        save_report(core, r,
                    &(struct node_record){.number = r->number,
                                          .node = node,
                                          .services = services,
                                          .order = order != 0 || !known ? order : known->order,
                                          .state = (uint8_t)state});
    if (news)
        add_traffic(core, r, event, ended);
    if (news && state == NODE_LINGERING)
        report_lingering(core, r, node, services);
    core_answer(core, event->ticket, ANSWER_REPORTED, r, NULL);
    if (news && r->state == JOB_RELEASING)
        core_act(core, r);
}

/* Of these nodes, those on which services linger: no sum ends that. Valid until the next step. */
static const struct nodefold *fold_lingering(struct core *core, const struct reservation *r,
                                             const char *list)
{
    struct nodefold *fold = memory_zeroed(sizeof *fold);
    struct nodeset named = {0}, lingering = {0};
    const struct node_report *report;
    if (r->reported->lingering > 0)
        nodeset_add(&named, list);
    for (uint32_t at = 0; named.count > 0 && (report = nodes_next(r->reported, &at));)
        if (report->state == NODE_LINGERING && nodeset_has(&named, report->name))
            nodeset_put(&lingering, report->name);
    nodeset_fold(&lingering, fold);
    nodeset_release(&named);
    core_discard(core, fold);
    return fold;
}

/* One report of many nodes, by who acts for the cluster and knows how their epilogs ended. It is of
 * one life of the job, and of nodes that this life has: of all else it frees nothing (I1). */
void core_node_sum(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_NODE_SUM);
    assert(event->u.sum.state == NODE_DESTROYED || event->u.sum.state == NODE_LINGERING);
    const char *cluster = event->u.sum.cluster, *job = event->u.sum.job;
    char name[NODELIST_NAME_MAX + 1];
    struct reservation *r = find_by_number(core, cluster, job, event->u.sum.number);
    if (!r) {
        answer_not_found(core, event->ticket, cluster, job, event->u.sum.number);
        return;
    }
    if (!r->nodes || nodes_beyond(event->u.sum.nodes, r->nodes, name)) {
        (r->nodes ? answer_no_node(core, event->ticket, job, name)
                  : core_answer(core, event->ticket, ANSWER_INVALID, NULL,
                                "the job was reserved without a node list: each node has to report "
                                "by itself"))
            ->field = "nodes";
        return;
    }
    const struct sum_record sum = {.number = r->number,
                                   .nodes = event->u.sum.nodes,
                                   .sum = (r->reported ? r->reported->sums : 0) + 1,
                                   .state = (uint8_t)event->u.sum.state};
    const uint32_t clean = nodes_clean(r->reported);
    core_save_record(core, (struct record){.kind = RECORD_SUM, .u.sum = sum});
    const bool news = r->reported->sums == sum.sum;
    /* Of nodes that were clean before nothing counts twice, so none of it does. */
    uint32_t listed;
    if (event->u.sum.traffic && sum.state == NODE_DESTROYED &&
        nodelist_count(sum.nodes, &listed, NULL) == 0 && event->u.sum.traffic->told <= listed &&
        nodes_clean(r->reported) - clean == listed)
        count_traffic(core, r, event->u.sum.traffic);
    const struct nodefold *lingering = fold_lingering(core, r, sum.nodes);
    if (news && r->repeated)
        save_regranted(core, r);
    if (news && sum.state == NODE_LINGERING)
        report_lingering(core, r, lingering->text, NULL);
    core_trace_of(core, r, TRACE_INFO, "nodes %.200s: services %s, by a sum; %u of %u are clean",
                  sum.nodes, node_state_word(sum.state), nodes_clean(r->reported), r->node_count);
    struct answer *answer = core_answer(core, event->ticket, ANSWER_REPORTED, r, NULL);
    answer->lingering = lingering;
    answer->count = nodes_clean(r->reported);
    if (news && r->state == JOB_RELEASING)
        core_act(core, r);
}

/* The node reports, or it is reported of it, to each reservation that this concerns: how many. */
static uint32_t
report_to_all(struct core *core, const char *node, enum node_state state,
              bool (*concerns)(const struct core *core, const struct core_event *event,
                               const struct reservation *r, const struct node_report *known),
              const struct core_event *event)
{
    assert(node);
    struct ledger_walk walk = {0}; /* acting may end one */
    uint32_t count = 0;
    for (struct reservation *r; (r = ledger_walk(&core->ledger, &walk));) {
        const struct node_report *known = nodes_find(r->reported, node);
        uint64_t order = event->kind == CORE_NODE_BOOT ? event->u.boot.order
                         : known                       ? known->order
                                                       : 0;
        if (!concerns(core, event, r, known))
            continue;
        count++;
        save_report(
            core, r,
            &(struct node_record){
                .number = r->number, .node = node, .order = order, .state = (uint8_t)state});
        core_act(core, r);
    }
    return count;
}

static bool not_clean(const struct node_report *known)
{
    return known->state == NODE_CREATED || known->state == NODE_LINGERING;
}

/* A node of a job that is over, which has not reported that it is clean. Not of one that is active:
 * when that makes services there later and cannot report it, an old fence would call them gone. */
static bool fence_concerns(const struct core *core, const struct core_event *event,
                           const struct reservation *r, const struct node_report *known)
{
    (void)core;
    assert(reservation_valid(r));
    if (r->state != JOB_RELEASING)
        return false;
    if (known)
        return not_clean(known);
    return r->vni_count > 0 && r->nodes && nodelist_contains(r->nodes, event->u.fence.node);
}

void core_fence(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_FENCE);
    const char *node = event->u.fence.node, *reason = event->u.fence.reason;
    uint32_t count = report_to_all(core, node, NODE_FENCED, fence_concerns, event);
    const char *words =
        core_text(core, "node %s is fenced%s%s", node, reason ? ": " : "", reason ? reason : "");
    core_publish_node(core, EVENT_FENCED, node, words);
    core_trace(core, TRACE_NOTICE, "%s -> %u reservation%s no longer wait%s for it", words, count,
               count == 1 ? "" : "s", count == 1 ? "s" : "");
    core_answer(core, event->ticket, ANSWER_FENCED, NULL, NULL)->count = count;
}

/* Whether the node cannot have made services of the reservation since it booted (I1): that was
 * released before, so it was granted nothing since, and launch documents of before are refused
 * there. The earlier of two times counts: a report that comes late makes the one too late, a wrong
 * clock of the node the other. The broker's own times can be compared if its clock was not set
 * since. */
static bool was_over_at_boot(const struct core *core, const struct core_event *event,
                             const struct reservation *r)
{
    assert(event->kind == CORE_NODE_BOOT);
    int64_t booted_ms = core->now_ms - event->u.boot.uptime_ms;
    if (booted_ms > event->u.boot.booted_ms)
        booted_ms = event->u.boot.booted_ms;
    return r->state == JOB_RELEASING && r->vni_count > 0 &&
           r->created_ms >= core->facts.holds_from_ms &&
           r->released_ms < booted_ms - BOOT_SLACK_MS && r->nodes &&
           nodes_is_of_job(r->reported, r->nodes, r->node_count, event->u.boot.node);
}

/* No CXI service outlives a boot, so what a node reported before it is over, whether it could
 * report so or not (F3). What it reports later has a higher order. A node that has reported nothing
 * of a reservation may have made services since it booted, and this may have arrived before it
 * could report; but not of one that was over by then. What a sum says may be of after the boot,
 * too. Another cluster's node can have the same name: this does not concern that one. */
static bool boot_concerns(const struct core *core, const struct core_event *event,
                          const struct reservation *r, const struct node_report *known)
{
    assert(reservation_valid(r));
    const char *const *cluster = event->u.boot.clusters;
    while (cluster && *cluster && strcmp(*cluster, r->cluster) != 0)
        cluster++;
    if (cluster && !*cluster)
        return false;
    return known ? known->order < event->u.boot.order && not_clean(known) && !known->summed
                 : was_over_at_boot(core, event, r);
}

void core_node_boot(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_NODE_BOOT);
    const char *node = event->u.boot.node;
    uint32_t count = report_to_all(core, node, NODE_DESTROYED, boot_concerns, event);
    core_trace(core, count > 0 ? TRACE_NOTICE : TRACE_DEBUG,
               "node %s has booted -> its CXI services of before are gone, of %u reservation%s",
               node, count, count == 1 ? "" : "s");
    core_answer(core, event->ticket, ANSWER_REPORTED, NULL, NULL)->count = count;
}
