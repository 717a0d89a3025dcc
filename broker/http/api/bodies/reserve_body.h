/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_API_BODIES_RESERVE_BODY_H
#define MCAST_BROKER_HTTP_API_BODIES_RESERVE_BODY_H

#include "broker/http/request/body.h"
#include "core/core.h"

/* From the body of a reserve to what the core is asked. Pure. */

/* Fills in all but cluster and job; its strings belong to the body. 0, or -1 with a 422. */
int reserve_body_parse(const json_t *body, struct reserve_request *request,
                       struct problem *problem);

#endif
