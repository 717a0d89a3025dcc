#ifndef MCAST_CLIENT_HANDLE_H
#define MCAST_CLIENT_HANDLE_H

/* What struct mcast is, for the calls of the library. */

#include "client/errand.h"
#include "client/waits.h"
#include "client/transport.h"

#include <jansson.h>

struct mcast {
    struct transport *transport;
    struct secret token; /* none: MCAST_TOKEN */
    struct waits patience;
};

/* One call that must end well: 2xx, else the broker's problem as an error. With 0 the answer's body
 * is the caller's to text_release. */
int handle_call(struct mcast *handle, const struct call *call, struct answer *answer,
                struct mcast_error *error);

/* Puts the job's token into a call that is made for whoever has it. MCAST_USAGE: there is none. */
int handle_bear(struct mcast *handle, struct call *call, struct mcast_error *error);

/* A copy of its token, or of MCAST_TOKEN, in *out; none stays none. MCAST_USAGE, MCAST_NOMEM. */
int handle_copy_token(struct mcast *handle, struct secret *out, struct mcast_error *error);

/* MCAST_USAGE: there is no token, and how to give one. */
int handle_no_token(struct mcast_error *error);

/* As handle_call, for an answer that is one JSON object: *root is the caller's. */
int handle_call_json(struct mcast *handle, const struct call *call, json_t **root,
                     struct mcast_error *error);

/* Runs an errand and reads its answer into the result (empty before; what is in it is then the
 * caller's); NULL: nobody wants to know what the answer holds. After a failure nothing is in it. */
int handle_run(struct mcast *handle, const struct errand *errand, struct result *result,
               struct mcast_error *error);

#endif
