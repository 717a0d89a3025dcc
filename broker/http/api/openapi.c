/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/openapi.h"

#include "broker/http/request/call.h"
#include "broker/http/routes.h"

/* GET /openapi.json */
int openapi_handle(struct call *call)
{
    call->document = openapi_document;
    call->document_length = openapi_length;
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}
