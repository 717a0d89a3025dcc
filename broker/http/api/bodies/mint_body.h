#ifndef MCAST_BROKER_HTTP_API_BODIES_MINT_BODY_H
#define MCAST_BROKER_HTTP_API_BODIES_MINT_BODY_H

#include "broker/http/request/problem.h"
#include "tokens/bearer.h"

#include <stddef.h>
#include <stdint.h>

/* The body of a request for a token (api.md, B3), all of it optional:
 * {"steps":"/fA","expires":3600 or "1h","operations":["cleanup","show"]}. Pure. */

enum { MINT_DAYS_MAX = 3650 };

/* now: Unix seconds. 0, or -1 with problem set (400 bad JSON, 422 all else). steps lives in the
 * body, whose bytes are changed. */
int mint_body_parse(char *bytes, size_t length, int64_t now, struct bearer_limits *limits,
                    struct problem *problem);

#endif
