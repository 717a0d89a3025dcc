/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/request/target.h"

#include <stdbool.h>
#include <stddef.h>

/* What there is to call: one row for each method and path, and how a request finds its row. */

struct call;
struct answer;

/* Bits, so that a path's methods fit into one number (Allow). */
enum method {
    METHOD_GET = 1,
    METHOD_PUT = 2,
    METHOD_POST = 4,
    METHOD_DELETE = 8,
    METHOD_PATCH = 16
};

/* The bit of "GET", "PUT", …; HEAD is GET without its body; 0 for any other word. */
int method_from_word(const char *word);
const char *method_word(enum method method);

/* "GET, HEAD, DELETE": into out, cut to fit. */
void methods_format(char *out, size_t size, unsigned methods);

/* What a peer has to be for its request to be handled (docs/security.md). */
enum need {
    NEED_NOTHING,
    NEED_LOOK,    /* nothing, but what is shown must be good */
    NEED_METRICS, /* nothing where the site says so, else a role, or to be named for it */
    NEED_PEER,    /* a proven identity; the handler decides the rest */
    NEED_MANAGER, /* resource manager of any cluster, or admin */
    NEED_CLUSTER, /* resource manager of the cluster in the path, or admin */
    NEED_NODE,    /* as CLUSTER, or the node in the path, of this cluster */
    NEED_HOST,    /* admin, or the node in the path, of any cluster */
    NEED_ADMIN,
    NEED_PLUGIN, /* the Slurm of one cluster: by its login, or its resource manager's certificate */
    NEED_BEARER, /* a token of a job; no other identity, whatever its role */
};

typedef int route_handle(struct call *call); /* see call.h */
typedef void route_render(struct call *call, const struct answer *answer);

struct route {
    enum method method;
    enum need need;
    const char *pattern; /* "/v1/clusters/{}/jobs/{}" */
    route_handle *handle;
    route_render *render;     /* NULL: core is not asked */
    const char *const *query; /* names of the parameters there are, NULL-terminated; or NULL */
    size_t body_max;          /* bytes; 0: takes no body */
    bool changes;             /* refused while nothing can be saved */
    bool always;              /* answered in whatever role the broker is */
    bool form;                /* its body is a form, not JSON */
    bool front;               /* of the listener that stands in front of the fabric manager, */
    bool both; /* … or of either: what a relayed job, which knows no other, asks about itself */
};

/* The row of this kind of listener for a target and a method; or NULL, and *methods receives what
 * the path can do instead, 0: there is no such path. */
const struct route *route_match(const struct route *routes, size_t count,
                                const struct target *target, bool front, int method,
                                unsigned *methods);

/* Whether the row knows all parameters: -1 with a 422 that names the first it does not. */
int route_check_query(const struct route *route, const struct target *target,
                      struct problem *problem);
