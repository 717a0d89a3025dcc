/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reconcile/reconcile.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Nodes have CXI services of a reservation that the ledger does not know, or whose VNIs it has
 * given back: what they name is quarantined until they report otherwise (I1, B11). */

/* A life that only nodes know has a name of its own, "<job>@<number>": so that nothing takes it for
 * the job's newest life. */
void unknown_life_name(char out[static JOB_ID_MAX + 1], const char *job, uint64_t number)
{
    assert(job);
    (void)snprintf(out, JOB_ID_MAX + 1, "%.100s@%llu", job, (unsigned long long)number);
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
struct reservation *unknown_life_take_in(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_NODE_REPORT);
    const char *cluster = event->u.report.cluster, *job = event->u.report.job;
    uint64_t number = event->u.report.number;
    bool future = number > core->last_number;
    char name[JOB_ID_MAX + 1];
    unknown_life_name(name, job, number);
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
void unknown_life_keep_vnis(struct core *core, struct reservation *r,
                            const struct core_event *event)
{
    assert(event->u.report.state == NODE_LINGERING);
    struct reservation_record rec = reservation_record(r);
    add_vnis(core, event, &rec);
    if (rec.vni_count > r->vni_count)
        (void)core_save(core, &rec);
}
