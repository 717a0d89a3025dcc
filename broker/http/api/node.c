/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "broker/http/request/job_path.h"
#include "broker/http/api/bodies/bodies.h"
#include "broker/http/routes.h"
#include "broker/http/shared.h"
#include "core/reservation/reservation.h"

/* PUT /v1/clusters/{cluster}/jobs/{job}/nodes/{node}: what became of a job's services there (F3).
 */

int node_handle(struct call *call)
{
    struct node_body body;
    struct job_path path;
    const char *node = call->target.segments[6];
    if (job_path_read(call, &path) < 0 || node_name_read(call, node) < 0 || !call_json(call) ||
        node_body_parse(call->json, &body, &call->problem) < 0)
        return -1;
    call->node_state = (int)body.state;
    struct core_event event = {
        .kind = CORE_NODE_REPORT,
        .ticket = call_ticket(call),
        .u.report = {.cluster = path.cluster,
                     .job = path.job,
                     .number = body.number,
                     .order = body.order,
                     .node = node,
                     .state = body.state,
                     .services = body.services[0] != '\0' ? body.services : NULL,
                     .vnis = body.vni_count > 0 ? body.vnis : NULL,
                     .vni_count = body.vni_count,
                     .traffic = body.has_traffic ? &body.traffic : NULL}};
    engine_step(call->http->engine, &event);
    return 0;
}

/* The reservation may be over by now, and its reports gone: the last node's report ends it. */
void node_render(struct call *call, const struct answer *answer)
{
    const struct reservation *reservation = answer->reservation;
    struct writer *out = &call->out;
    writer_begin_object(out, NULL);
    writer_string(out, "cluster", reservation->cluster);
    writer_string(out, "job", reservation->job);
    writer_number(out, "number", reservation->number);
    writer_string(out, "node", call->target.segments[6]);
    writer_string(out, "state", node_state_word(call->node_state));
    writer_string(out, "reservation", job_state_word(reservation->state));
    writer_end_object(out);
}

/* PUT /v1/clusters/{cluster}/jobs/{job}/nodes: the same of many nodes at once, by who acts for the
 * cluster as their epilogs told it. */

int nodes_handle(struct call *call)
{
    struct nodes_body body;
    struct job_path path;
    if (job_path_read(call, &path) < 0 || !call_json(call) ||
        nodes_body_parse(call->json, &body, &call->problem) < 0)
        return -1;
    struct core_event event = {.kind = CORE_NODE_SUM,
                               .ticket = call_ticket(call),
                               .u.sum = {.cluster = path.cluster,
                                         .job = path.job,
                                         .number = body.number,
                                         .nodes = body.nodes,
                                         .state = body.state,
                                         .traffic = body.has_traffic ? &body.traffic.sum : NULL}};
    engine_step(call->http->engine, &event);
    return 0;
}

void nodes_render(struct call *call, const struct answer *answer)
{
    const struct reservation *reservation = answer->reservation;
    const struct nodefold *lingering = answer->lingering;
    struct writer *out = &call->out;
    writer_begin_object(out, NULL);
    writer_string(out, "cluster", reservation->cluster);
    writer_string(out, "job", reservation->job);
    writer_number(out, "number", reservation->number);
    writer_string(out, "state", job_state_word(reservation->state));
    writer_number(out, "node_count", reservation->node_count);
    writer_number(out, "clean", answer->count);
    writer_string(out, "lingering", lingering->text);
    if (lingering->left_out > 0)
        writer_number(out, "lingering_more", lingering->left_out);
    writer_end_object(out);
}

/* PUT /v1/nodes/{node}/boot: no CXI service outlives a boot of its node, so all that it said before
 * is over (F3). A machine may run jobs of several clusters: of those whose `nodes` has it. An admin
 * speaks of all. */

/* The clusters that it is a node of: of others a node may have the same name, and be another. */
static void list_clusters(const struct call *call, const char *node,
                          const char *clusters[static CLUSTERS_MAX + 1])
{
    const struct rights *rights = call->http->rights;
    const char *cluster;
    for (size_t i = 0; (cluster = rights_cluster(rights, i)); i++)
        if (rights_is_node(rights, &call->identity, cluster, node))
            *clusters++ = cluster;
    *clusters = NULL;
}

int boot_handle(struct call *call)
{
    const char *node = call->target.segments[2], *clusters[CLUSTERS_MAX + 1];
    int64_t order = 0, uptime_s = 0, booted_s = 0;
    const struct body_field fields[] = {
        {"order", .number = &order, .min = 1, .max = INT64_MAX},
        {"uptime", .number = &uptime_s, .min = 1, .max = UINT32_MAX},
        {"booted", .number = &booted_s, .min = 1, .max = UINT32_MAX},
        {0}};
    if (node_name_read(call, node) < 0 || !call_json(call) ||
        body_read_fields(call->json, "", fields, &call->problem) < 0)
        return -1;
    if (order == 0)
        return problem_set(&call->problem, 422, "missing-field", "order",
                           "order is missing: higher than those of the node's reports before the "
                           "boot, and lower than those after it");
    list_clusters(call, node, clusters);
    struct core_event event = {.kind = CORE_NODE_BOOT,
                               .ticket = call_ticket(call),
                               .u.boot = {.node = node,
                                          .order = (uint64_t)order,
                                          .uptime_ms = uptime_s * 1000,
                                          .booted_ms = uptime_s > 0 ? booted_s * 1000 : 0,
                                          .clusters = call->identity.admin ? NULL : clusters}};
    engine_step(call->http->engine, &event);
    return 0;
}

void boot_render(struct call *call, const struct answer *answer)
{
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "node", call->target.segments[2]);
    writer_number(&call->out, "reservations", answer->count);
    writer_end_object(&call->out);
}
