#ifndef MCAST_BROKER_HTTP_SYNC_BODY_H
#define MCAST_BROKER_HTTP_SYNC_BODY_H

#include "broker/http/json_body.h"

/* The body of a sync: {"active":["id",…]}. Pure; may run on any thread. */

struct sync_body {
    const char **active; /* strings live in root */
    size_t count;
    json_t *root;
};

/* 0, or -1 with problem set (400 bad JSON, 422 all else, 503 out of memory); body is then empty. */
int sync_body_parse(const char *bytes, size_t length, struct sync_body *body,
                    struct problem *problem);
void sync_body_release(struct sync_body *body);

#endif
