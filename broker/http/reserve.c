#include "broker/http/call.h"
#include "broker/http/job_json.h"
#include "broker/http/job_path.h"
#include "broker/http/reserve_body.h"
#include "broker/http/routes.h"

/* PUT /v1/clusters/{cluster}/jobs/{job} */
void reserve_handle(struct call *call)
{
    struct reserve_body body;
    struct job_path path;
    if (job_path_read(call, &path) < 0 ||
        reserve_body_parse(call->body, call->body_used, &body, &call->problem) < 0) {
        call_refuse(call);
        return;
    }
    body.request.cluster = path.cluster;
    body.request.job = path.job;
    struct core_event event = {.kind = CORE_RESERVE};
    event.u.reserve.ticket = call_ticket(call);
    event.u.reserve.request = body.request;
    engine_step(call->http->engine, &event);
    reserve_body_release(&body);
}

void reserve_render(struct call *call, const struct answer *answer)
{
    call->secret = job_json_write_whole(&call->out, engine_core(call->http->engine),
                                        answer->reservation, answer->detail);
}
