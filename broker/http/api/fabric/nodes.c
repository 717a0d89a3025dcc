/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/gate.h"
#include "broker/http/request/call.h"
#include "broker/http/request/job_path.h"
#include "broker/http/routes.h"
#include "base/nodelist.h"

#include <inttypes.h>
#include <string.h>

/* GET /v1/nodes, page by page, and GET /v1/nodes/{node}: what is known of nodes' NICs (P1, S2). An
 * admin sees all, a resource manager the nodes of its clusters' lists, and nothing of others. */

enum { LIMIT_DEFAULT = 100, LIMIT_MAX = 1000 };

static void write_addresses(struct writer *out, const struct inventory_nic *nic)
{
    char name[FABRIC_ADDRESS_SIZE];
    writer_textf(out, "%s\"address\":\"0x%05x\"", out->comma ? "," : "", nic->nic.address >> 12);
    out->comma = true;
    writer_number(out, "dfa", nic->nic.address);
    writer_number(out, "group", dfa_place(nic->nic.address) / FABRIC_SWITCHES);
    fabric_switch_format(name, dfa_place(nic->nic.address));
    writer_string(out, "switch", name);
    fabric_port_format(name, nic->nic.address);
    writer_string(out, "port", name);
    if ((nic->contradictions & NIC_ADDRESS_DIFFERS) != 0)
        writer_textf(out, ",\"file_address\":\"0x%05x\"", nic->file_address >> 12);
}

static void write_nic(struct writer *out, const struct inventory_nic *nic)
{
    char device[8];
    snprintf(device, sizeof device, "cxi%u", nic->nic.device);
    writer_begin_object(out, NULL);
    writer_string(out, "device", device);
    write_addresses(out, nic);
    writer_string(out, "source", inventory_source_word(nic->source));
    writer_string(out, "state", fabric_state_word(nic->state));
    writer_string(out, "reported_state",
                  nic->source == SOURCE_NODE ? fabric_state_word(nic->nic.link) : NULL);
    writer_string(out, "port_state", nic->port >= 0 ? fabric_state_word(nic->port) : NULL);
    writer_begin_array(out, "contradictions");
    for (unsigned bit = 0; bit < NIC_CONTRADICTIONS; bit++)
        if ((nic->contradictions >> bit & 1) != 0)
            writer_string(out, NULL, inventory_contradiction_word(bit));
    writer_end_array(out);
    writer_end_object(out);
}

static void write_node(struct writer *out, const struct inventory *inventory, const char *name)
{
    struct inventory_node node;
    (void)inventory_node(inventory, name, &node);
    writer_begin_object(out, NULL);
    writer_string(out, "node", name);
    writer_bool(out, "reported", node.reported);
    writer_bool(out, "in_file", node.in_file);
    writer_begin_array(out, "nics");
    for (size_t i = 0; i < node.count; i++)
        write_nic(out, &node.nics[i]);
    writer_end_array(out);
    writer_end_object(out);
}

/* ---- one ---- */

static bool may_see(const struct call *call, const char *node)
{
    const struct rights *rights = call->http->rights;
    const char *cluster;
    if (call->identity.admin)
        return true;
    for (size_t i = 0; (cluster = rights_cluster(rights, i)); i++)
        if (rights_manages(rights, &call->identity, cluster) &&
            rights_list_node(rights, cluster, node))
            return true;
    return false;
}

/* One that is hidden is answered as one that is not there. */
int fabric_node_handle(struct call *call)
{
    const char *name = call->target.segments[2];
    struct inventory_facts facts;
    struct inventory_node node;
    const struct inventory inventory = engine_inventory(call->http->engine, &facts);
    if (node_name_read(call, name) < 0)
        return -1;
    if (!may_see(call, name) || (!inventory_node(&inventory, name, &node) &&
                                 !rights_list_node(call->http->rights, NULL, name)))
        return problem_set(&call->problem, 404, "not-found", NULL,
                           "no node %.64s is known, or none that this peer may see", name);
    write_node(&call->out, &inventory, name);
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}

/* ---- pages ---- */

/* Of a cluster's list: its position there is where the next page begins, so that no name of another
 * cluster's is told. */
struct page {
    struct call *call;
    const struct inventory *inventory;
    uint64_t position, after, limit;
};

static void write_listed(void *arg, const char *name)
{
    struct page *page = arg;
    const uint64_t position = page->position++;
    if (position >= page->after && position - page->after < page->limit)
        write_node(&page->call->out, page->inventory, name);
}

static int write_cluster(struct call *call, const struct inventory *inventory, const char *cluster,
                         uint64_t limit)
{
    const struct config_cluster *found = config_cluster_find(call->http->config, cluster);
    const char *after = target_query(&call->target, "after");
    struct page page = {.call = call, .inventory = inventory, .limit = limit};
    uint32_t count;
    if (!found)
        return job_path_no_cluster(call, cluster);
    if (after && !target_number(after, NODELIST_COUNT_MAX, &page.after))
        return problem_set(&call->problem, 422, "invalid", "after",
                           "after must be the number that the page before has in next");
    writer_begin_object(&call->out, NULL);
    writer_begin_array(&call->out, "nodes");
    if (found->nodes[0] != '\0' && nodelist_count(found->nodes, &count, NULL) == 0)
        nodelist_each(found->nodes, write_listed, &page);
    writer_end_array(&call->out);
    if (page.after + limit < page.position)
        writer_textf(&call->out,
                     ",\"next\":\"/v1/nodes?cluster=%s&limit=%" PRIu64 "&after=%" PRIu64 "\"",
                     cluster, limit, page.after + limit);
    else
        writer_string(&call->out, "next", NULL);
    writer_end_object(&call->out);
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}

static int write_all(struct call *call, const struct inventory *inventory, uint64_t limit)
{
    const char *name = target_query(&call->target, "after"), *last = NULL;
    if (name && node_name_read(call, name) < 0)
        return -1;
    writer_begin_object(&call->out, NULL);
    writer_begin_array(&call->out, "nodes");
    name = inventory_after(inventory, name ? name : "");
    for (uint64_t i = 0; i < limit && name; i++) {
        write_node(&call->out, inventory, name);
        last = name;
        name = inventory_after(inventory, name);
    }
    writer_end_array(&call->out);
    if (name)
        writer_textf(&call->out, ",\"next\":\"/v1/nodes?limit=%" PRIu64 "&after=%s\"", limit, last);
    else
        writer_string(&call->out, "next", NULL);
    writer_end_object(&call->out);
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}

int fabric_nodes_handle(struct call *call)
{
    const struct rights *rights = call->http->rights;
    const char *cluster = target_query(&call->target, "cluster");
    uint64_t limit = LIMIT_DEFAULT;
    struct inventory_facts facts;
    const struct inventory inventory = engine_inventory(call->http->engine, &facts);
    if (target_query_number(&call->target, "limit", 1, LIMIT_MAX, &limit, &call->problem) < 0)
        return -1;
    if (!cluster && !call->identity.admin)
        cluster = rights_only_cluster(rights, &call->identity);
    if (cluster ? !rights_manages(rights, &call->identity, cluster) : !call->identity.admin)
        return gate_forbid(call, "only an admin may list all nodes; a resource manager may list "
                                 "those of its own cluster: give cluster (mcastctl --cluster)");
    return cluster ? write_cluster(call, &inventory, cluster, limit)
                   : write_all(call, &inventory, limit);
}
