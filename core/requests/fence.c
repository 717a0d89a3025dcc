/* SPDX-License-Identifier: Apache-2.0 */
#include "core/requests/requests.h"

#include <assert.h>
#include <string.h>

/* All CXI services of a node are gone: an administrator says so, or it has booted (F3). */

enum { BOOT_SLACK_MS = 300 * 1000 }; /* clocks may differ by it, as for launch documents */

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
        core_save_node_report(
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
