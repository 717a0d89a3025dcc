/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_API_BODIES_SYNC_BODY_H
#define MCAST_BROKER_HTTP_API_BODIES_SYNC_BODY_H

#include "broker/http/request/problem.h"

#include <stddef.h>

/* The body of a sync: {"active":["id",…]}. It is by far the longest body there is, and a tree of
 * JSON values takes twenty times its bytes: so it is read where it lies. Pure; may run on any
 * thread. */

enum { SYNC_IDS_MAX = 2000000 };

struct sync_body {
    const char **active; /* strings live in the bytes that were parsed */
    size_t count;
};

/* Writes into bytes: escapes are decoded, strings end with NUL. 0, or -1 with the first problem
 * there is (400 bad JSON, 422 all else, 503 out of memory); body is then empty. */
int sync_body_parse(char *bytes, size_t length, struct sync_body *body, struct problem *problem);
void sync_body_release(struct sync_body *body);

#endif
