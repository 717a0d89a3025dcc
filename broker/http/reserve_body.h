#ifndef MCAST_BROKER_HTTP_RESERVE_BODY_H
#define MCAST_BROKER_HTTP_RESERVE_BODY_H

#include "broker/http/json_body.h"
#include "core/core.h"

/* The body of a reserve, from bytes to what the core is asked (api.md, "Reserve"). Pure. */

struct reserve_body {
    struct reserve_request request; /* all but cluster and job; strings live in root */
    json_t *root;
};

/* 0, or -1 with problem set (400 bad JSON, 422 all else); body is then empty. */
int reserve_body_parse(const char *bytes, size_t length, struct reserve_body *body,
                       struct problem *problem);
void reserve_body_release(struct reserve_body *body);

#endif
