#include "broker/http/request/call.h"
#include "broker/http/api/bodies/job_json.h"
#include "broker/http/request/job_path.h"
#include "broker/http/api/bodies/reserve_body.h"
#include "broker/http/routes.h"

/* PUT /v1/clusters/{cluster}/jobs/{job} */
int reserve_handle(struct call *call)
{
    struct core_event event = {.kind = CORE_RESERVE};
    struct reserve_request *request = &event.u.reserve.request;
    struct job_path path;
    if (job_path_read(call, &path) < 0 || !call_json(call) ||
        reserve_body_parse(call->json, request, &call->problem) < 0)
        return -1;
    request->cluster = path.cluster;
    request->job = path.job;
    event.u.reserve.ticket = call_ticket(call);
    engine_step(call->http->engine, &event);
    return 0;
}

void reserve_render(struct call *call, const struct answer *answer)
{
    call->secret = job_json_write_whole(&call->out, engine_core(call->http->engine),
                                        answer->reservation, answer->detail);
}
