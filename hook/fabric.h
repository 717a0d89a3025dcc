/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_HOOK_FABRIC_H
#define MCAST_HOOK_FABRIC_H

#include "hook/cleanup.h"

/* Cleans up a step at the fabric manager itself, with the job's session token, by the calls that
 * the token may make (docs/mock-fm.md, "What a session token opens").
 *
 * It is a shared object, opened when the broker does not answer: it needs libcurl and libcrypto,
 * and loading these and the thirty libraries below them takes 5 ms of CPU and 6 MB, in the program
 * of a caller who waits. */

#define FABRIC_OBJECT "mcast-cleanup-fabric.so"
#define FABRIC_SYMBOL "mcast_cleanup_fabric"

/* below: also the steps below it. Ends by the deadline. */
typedef enum outcome fabric_fn(const struct environment *environment, bool below,
                               const struct deadline *deadline, struct error *err);

#endif
