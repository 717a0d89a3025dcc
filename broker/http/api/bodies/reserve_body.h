#ifndef MCAST_BROKER_HTTP_API_BODIES_RESERVE_BODY_H
#define MCAST_BROKER_HTTP_API_BODIES_RESERVE_BODY_H

#include "broker/http/request/problem.h"
#include "core/core.h"

/* The body of a reserve, from bytes to what the core is asked (api.md, "Reserve"). Pure. */

/* Fills in all but cluster and job. Writes into bytes: the strings of the request live there. 0, or
 * -1 with problem set (400 bad JSON, 422 all else). */
int reserve_body_parse(char *bytes, size_t length, struct reserve_request *request,
                       struct problem *problem);

#endif
