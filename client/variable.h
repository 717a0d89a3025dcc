#ifndef MCAST_CLIENT_VARIABLE_H
#define MCAST_CLIENT_VARIABLE_H

/* Environment variables for a job's tasks, as the broker sends them: {"NAME":"value",…}. */

#include "client/mcast.h"

#include <jansson.h>

/* Borrows both. value NULL: to be unset. */
struct mcast_variable variable_of(const char *name, const char *value);

/* Decodes an object into *count variables; the array is the caller's to free(), its strings are the
 * object's. A name that no shell would take, or a value that is no string, is MCAST_UNCLEAR: names
 * end up in `eval`. */
int variable_decode(json_t *object, struct mcast_variable **out, size_t *count,
                    struct mcast_error *error);

#endif
