/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "core/reconcile/reconcile.h"
#include "core/requests/requests.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Nodes report what became of a job's CXI services: its VNIs are quarantined until each has
 * reported that none is left (F3), or [vni] hold is over. */

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
    struct reservation *r = ledger_life(&core->ledger, cluster, job, number), *unknown;
    if (r && !vnis_given_back(r))
        return r;
    unknown_life_name(name, job, number);
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

void core_save_node_report(struct core *core, struct reservation *r,
                           const struct node_record *record)
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
        struct reservation *taken_in = unknown_life_take_in(core, event);
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
        unknown_life_keep_vnis(core, r, event);
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
        core_save_node_report(
            core, r,
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
    struct reservation *r = ledger_life(&core->ledger, cluster, job, event->u.sum.number);
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
