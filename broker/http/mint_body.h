#ifndef MCAST_BROKER_HTTP_MINT_BODY_H
#define MCAST_BROKER_HTTP_MINT_BODY_H

#include "broker/http/json_body.h"
#include "tokens/bearer.h"

/* The body of a request for a token (api.md, B3), all of it optional:
 * {"steps":"/fA","expires":3600 or "1h","operations":["cleanup","show"]}. Pure. */

struct mint_body {
    struct bearer_limits limits; /* steps lives in root */
    json_t *root;                /* NULL: there is no body */
};

enum { MINT_DAYS_MAX = 3650 };

/* now: Unix seconds. 0, or -1 with problem set (400 bad JSON, 422 all else); body is then empty. */
int mint_body_parse(const char *bytes, size_t length, int64_t now, struct mint_body *body,
                    struct problem *problem);
void mint_body_release(struct mint_body *body);

#endif
