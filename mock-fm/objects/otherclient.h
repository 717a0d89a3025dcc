/* What another client of the fabric manager does, of whom the one under test knows nothing. */
#ifndef MCAST_MOCK_FM_OBJECTS_OTHERCLIENT_H
#define MCAST_MOCK_FM_OBJECTS_OTHERCLIENT_H

#include "mock-fm/objects/fabric.h"

/* Loses these jobs (an array of ids) or, with NULL, all: also as a fabric manager that lost its
 * state. Unknown ids are passed over. The number of jobs lost, or -1 with a problem. */
int otherclient_forget(struct fabric *fabric, const json_t *ids, int64_t now_us,
                       struct problem *problem);

/* Reserves each job of an array of objects: jobID, mcastLimit and, if it is to be a certain one,
 * sessionToken. One that is there is replaced, and has another token then. The number of jobs; or
 * -1 with a problem: those before the one that it is about are made, and that one is gone. */
int otherclient_put(struct fabric *fabric, const json_t *jobs, int64_t now_us,
                    struct problem *problem);

#endif
