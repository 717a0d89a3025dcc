/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "broker/http/routes.h"

/* GET /healthz: the event loop runs, or there would be no answer. */
int health_alive(struct call *call)
{
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "status", "alive");
    writer_end_object(&call->out);
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}

/* GET /readyz: jobs can be served. Without the fabric manager they can, only without multicast
 * addresses, so its state is shown but does not count. */
int health_ready(struct call *call)
{
    const struct engine *engine = call->http->engine;
    const enum broker_role role = engine_role(engine);
    const char *fault = engine_storage_fault(engine);
    struct core_status status;
    if (role != ROLE_LEADER)
        return problem_set(&call->problem, 503, "not-leader", NULL, "this broker is %s",
                           broker_role_word(role));
    if (fault)
        return problem_set(&call->problem, 503, "storage", NULL, "nothing can be saved: %s", fault);
    core_status(engine_core(engine), &status);
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "status", "ready");
    writer_string(&call->out, "fabric_manager", link_state_word(status.link));
    writer_end_object(&call->out);
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}
