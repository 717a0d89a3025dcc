#include "broker/http/request/call.h"
#include "broker/http/request/json_scan.h"
#include "broker/http/routes.h"
#include "core/reservation/nodes.h"

/* PUT /v1/nodes/{node}/boot: no CXI service outlives a boot of its node, so all that it said before
 * is over (F3). A machine may run jobs of several clusters: of those whose `nodes` has it. An admin
 * speaks of all. */

struct reading {
    int64_t order; /* 0: not read yet */
    uint32_t seen;
};

static int read_member(struct json_scan *scan, const char *name, void *arg)
{
    static const char *const names[] = {"order", NULL};
    struct reading *reading = arg;
    if (json_scan_name(scan, name, names, &reading->seen) < 0)
        return -1;
    return json_scan_number(scan, "order", 1, INT64_MAX, &reading->order);
}

static int read_order(struct call *call, const char *node, struct reading *reading)
{
    if (!node_name_valid(node))
        return problem_set(&call->problem, MHD_HTTP_UNPROCESSABLE_CONTENT, "invalid", "node",
                           "'%.64s' is no node's name; names are 1 to %d of A-Z, a-z, 0-9 and ._-",
                           node, NODELIST_NAME_MAX);
    if (json_scan_body(call->body, call->body_used, read_member, reading, &call->problem) < 0)
        return -1;
    if (reading->order == 0)
        return problem_set(&call->problem, 422, "missing-field", "order",
                           "order is missing: higher than those of the node's reports before the "
                           "boot, and lower than those after it");
    return 0;
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

void boot_handle(struct call *call)
{
    const char *node = call->target.segments[2];
    struct reading reading = {.order = 0};
    if (read_order(call, node, &reading) < 0) {
        call_refuse(call);
        return;
    }
    const char *clusters[CLUSTERS_MAX + 1];
    list_clusters(call, node, clusters);
    struct core_event event = {.kind = CORE_NODE_BOOT};
    event.u.boot.ticket = call_ticket(call);
    event.u.boot.node = node;
    event.u.boot.order = (uint64_t)reading.order;
    event.u.boot.clusters = call->identity.admin ? NULL : clusters;
    engine_step(call->http->engine, &event);
}

void boot_render(struct call *call, const struct answer *answer)
{
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "node", call->target.segments[2]);
    writer_number(&call->out, "reservations", answer->count);
    writer_end_object(&call->out);
}
