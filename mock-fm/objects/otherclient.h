/* SPDX-License-Identifier: Apache-2.0 */
/* What another client or an administrator does with the fabric manager: the client under test does
 * not know of it. */
#ifndef MCAST_MOCK_FM_OBJECTS_OTHERCLIENT_H
#define MCAST_MOCK_FM_OBJECTS_OTHERCLIENT_H

#include "mock-fm/objects/fabric.h"

/* Loses these jobs (an array of ids) or, with NULL, all: also as a fabric manager that lost its
 * state. Unknown ids are passed over. The number of jobs lost, or -1 with a problem. */
int otherclient_forget(struct fabric *fabric, const json_t *ids, int64_t now_us,
                       struct problem *problem);

/* Reserves each job of an array of objects: jobID, mcastLimit, perhaps sessionToken. A job that
 * exists is replaced, and has another token then. The number of jobs; or
 * -1 with a problem: those before the one that it is about are made, and that one is gone. */
int otherclient_put(struct fabric *fabric, const json_t *jobs, int64_t now_us,
                    struct problem *problem);

/* From now on the fabric manager holds what the snapshot (objects_copy) holds, its counters
 * included, and nothing else; durably, if it has a journal. 0, or -1 with a problem. */
int otherclient_restore(struct fabric *fabric, const struct objects *snapshot, int64_t now_us,
                        struct problem *problem);

#endif
