/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLIENT_CALLS_VARIABLE_H
#define MCAST_CLIENT_CALLS_VARIABLE_H

/* Environment variables for a job's tasks, as the broker sends them: {"NAME":"value",…}. */

#include "client/mcast.h"

#include <jansson.h>

/* The names of the variables that tasks are given (F16), once for all of the library. */

enum envname {
    ENVNAME_MIN_NODES,
    ENVNAME_ADDRESSES,
    ENVNAME_JOB,
    ENVNAME_STEP,
    ENVNAME_TOKEN, /* a secret: who holds it may make and delete the job's multicast trees */
    ENVNAME_URL,
    ENVNAME_CACERT,
    ENVNAME_COUNT
};

/* In the broker's order, ended by NULL (mcast_env_names). */
extern const char *const envnames[ENVNAME_COUNT + 1];

/* Borrows both. value NULL: to be unset. */
struct mcast_variable variable_of(const char *name, const char *value);

/* Decodes an object into *count variables; the array is the caller's to free(), its strings are the
 * object's. They end up in `eval`, also of root, and who answers need not be what it claims to be:
 * a name that no shell would take, a value that is no string or more than one line is
 * MCAST_UNCLEAR, and what is not called FI_CXI_… or SLINGSHOT_… is left out. */
int variable_decode(json_t *object, struct mcast_variable **out, size_t *count,
                    struct mcast_error *error);

#endif
