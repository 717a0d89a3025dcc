#include "broker/http/request/call.h"
#include "broker/http/request/job_path.h"
#include "broker/http/api/bodies/node_body.h"
#include "broker/http/routes.h"

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
    struct core_event event = {.kind = CORE_NODE_REPORT};
    event.u.report.ticket = call_ticket(call);
    event.u.report.cluster = path.cluster;
    event.u.report.job = path.job;
    event.u.report.number = body.number;
    event.u.report.order = body.order;
    event.u.report.node = node;
    event.u.report.state = body.state;
    event.u.report.services = body.services[0] != '\0' ? body.services : NULL;
    event.u.report.vnis = body.vni_count > 0 ? body.vnis : NULL;
    event.u.report.vni_count = body.vni_count;
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
