#include "broker/http/request/call.h"
#include "broker/http/request/job_path.h"
#include "broker/http/routes.h"

/* PUT /v1/nodes/{node}/boot: no CXI service outlives a boot of its node, so all that it said before
 * is over (F3). A machine may run jobs of several clusters: of those whose `nodes` has it. An admin
 * speaks of all. */

static int read_order(struct call *call, const char *node, int64_t *order)
{
    static const char *const names[] = {"order", NULL};
    const json_t *body;
    if (node_name_read(call, node) < 0 || !(body = call_json(call)) ||
        body_check_names(body, names, &call->problem) < 0 ||
        body_number(json_object_get(body, "order"), "order", 1, INT64_MAX, order, &call->problem) <
            0)
        return -1;
    if (*order > 0)
        return 0;
    return problem_set(&call->problem, 422, "missing-field", "order",
                       "order is missing: higher than those of the node's reports before the "
                       "boot, and lower than those after it");
}

/* The clusters that it is a node of: of others a node may have the same name, and be another. */
static void list_clusters(const struct call *call, const char *node,
                          const char *clusters[static CLUSTERS_MAX + 1])
{
    const struct rights *rights = call->http->rights;
    const char *cluster;
    for (size_t i = 0; (cluster = rights_cluster(rights, i)) != NULL; i++)
        if (rights_is_node(rights, &call->identity, cluster, node))
            *clusters++ = cluster;
    *clusters = NULL;
}

int boot_handle(struct call *call)
{
    const char *node = call->target.segments[2];
    int64_t order = 0;
    if (read_order(call, node, &order) < 0)
        return -1;
    const char *clusters[CLUSTERS_MAX + 1];
    list_clusters(call, node, clusters);
    struct core_event event = {.kind = CORE_NODE_BOOT};
    event.u.boot.ticket = call_ticket(call);
    event.u.boot.node = node;
    event.u.boot.order = (uint64_t)order;
    event.u.boot.clusters = call->identity.admin ? NULL : clusters;
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
