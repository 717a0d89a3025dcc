/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_API_BODIES_MINT_BODY_H
#define MCAST_BROKER_HTTP_API_BODIES_MINT_BODY_H

#include "broker/http/request/body.h"
#include "tokens/bearer.h"

/* The body of a request for a token (B3), all of it optional:
 * {"steps":"/fA","expires":3600 or "1h","operations":["cleanup","show"]}. Pure. */

enum { MINT_DAYS_MAX = 3650 };

/* now: Unix seconds. 0, or -1 with a 422. steps belongs to the body. */
int mint_body_parse(const json_t *body, int64_t now, struct bearer_limits *limits,
                    struct problem *problem);

#endif
