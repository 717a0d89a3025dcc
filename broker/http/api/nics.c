/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/bodies/bodies.h"
#include "broker/http/auth/gate.h"
#include "broker/http/request/call.h"
#include "broker/http/request/job_path.h"
#include "broker/http/routes.h"
#include "broker/http/shared.h"
#include "broker/log/log.h"

/* DELETE /v1/nodes/{node}: what it told is forgotten. /v1/nodes/{node}/inventory: PUT: the node
 * tells which NICs it has (P2); GET: what is known. */

int nics_handle(struct call *call)
{
    struct nics_body body;
    const char *node = call->target.segments[2];
    if (node_name_read(call, node) < 0 || !call_json(call) ||
        nics_body_parse(call->json, &body, &call->problem) < 0)
        return -1;
    struct core_event event = {.kind = CORE_NODE_NICS,
                               .ticket = call_ticket(call),
                               .u.nics = {.node = node, .nics = body.nics, .order = body.order}};
    engine_step(call->http->engine, &event);
    return 0;
}

static void write_nics(struct writer *out, const char *text)
{
    struct nodenic nic;
    writer_begin_array(out, "nics");
    while (nodenics_next(&text, &nic)) {
        writer_begin_object(out, NULL);
        writer_string(out, "device", nic.device);
        writer_number(out, "address", nic.address);
        writer_number(out, "speed", nic.speed);
        writer_string(out, "link", nic.up ? "up" : "down");
        if (nic.serial[0])
            writer_string(out, "serial", nic.serial);
        if (nic.firmware[0])
            writer_string(out, "firmware", nic.firmware);
        writer_end_object(out);
    }
    writer_end_array(out);
}

static void write_node(struct writer *out, const struct nodenics *known)
{
    writer_begin_object(out, NULL);
    writer_string(out, "node", known->node);
    writer_number(out, "order", known->order);
    writer_time(out, "changed", known->changed_ms);
    write_nics(out, known->nics);
    writer_end_object(out);
}

/* What counts now: of a later report, if this one came late. */
void nics_render(struct call *call, const struct answer *answer)
{
    (void)answer;
    write_node(&call->out,
               core_node_nics(engine_core(call->http->engine), call->target.segments[2]));
}

int nics_show_handle(struct call *call)
{
    const char *node = call->target.segments[2];
    if (node_name_read(call, node) < 0)
        return -1;
    if (!permit_node(call->http->rights, &call->identity, node)) {
        gate_forbid(call, "only an admin, the resource manager of a cluster that has the node in "
                          "its 'nodes', or the node itself may see what it has");
        return -1;
    }
    const struct nodenics *known = core_node_nics(engine_core(call->http->engine), node);
    if (!known)
        return problem_set(&call->problem, 404, answer_word(ANSWER_NOT_FOUND), NULL,
                           "node %.64s has not told its NICs; mcast-node inventory --report there "
                           "does",
                           node);
    write_node(&call->out, known);
    return call_reply_saved(call, MHD_HTTP_OK, CALL_JSON);
}

int nics_forget_handle(struct call *call)
{
    const char *node = call->target.segments[2];
    if (node_name_read(call, node) < 0)
        return -1;
    struct core_event event = {
        .kind = CORE_FORGET_NICS, .ticket = call_ticket(call), .u.nics.node = node};
    engine_step(call->http->engine, &event);
    return 0;
}

void nics_forget_render(struct call *call, const struct answer *answer)
{
    char who[IDENTITY_TEXT_SIZE];
    (void)answer;
    log_line(LOG_NOTICE, "node %s is forgotten by %s", call->target.segments[2],
             identity_format(&call->identity.proof, who, sizeof who));
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "node", call->target.segments[2]);
    writer_end_object(&call->out);
}
