#include "broker/http/request/call.h"
#include "broker/http/api/bodies/job_json.h"
#include "broker/http/routes.h"
#include "broker/http/auth/tokencheck.h"

/* GET /v1/reservation: that of the token which is shown. */

int ownjob_handle(struct call *call)
{
    const struct tokenproof *proof = call->identity.proof.token;
    const struct reservation *own = tokencheck_reservation(call->http, proof);
    if (tokenproof_allows(proof, BEARER_SHOW, NULL, &call->problem) < 0)
        return -1;
    call_show(call, own);
    call->secret = job_json_write_own(&call->out, engine_core(call->http->engine), own, proof);
    return call_reply_shown(call, MHD_HTTP_OK, CALL_JSON);
}
