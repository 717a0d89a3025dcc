/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FLUX_PUBLISH_H
#define MCAST_FLUX_PUBLISH_H

/* Tells the job's nodes and people what was granted, as the script prolog does: the whole
 * reservation, token included, under "mcast" in the job's part of the KVS, which its owner and the
 * instance's can read; and a memo without the token for everybody.
 *
 * Nobody has to wait until the KVS has it: it takes what one sender sends in its order, so whoever
 * sees an event that is posted afterwards, as the job's prolog-finish and its start, sees the
 * reservation, too. Whoever does not find it waits for that event, and looks again. */

#include "deploy/flux/jobtap/jobtap.h"

/* then is called when the KVS has it, or will not; the future is then's, or to be destroyed. NULL:
 * it cannot be done. */
flux_future_t *publish_grant(struct jobtap *jobtap, flux_jobid_t id,
                             const struct mcast_reservation *reservation, flux_continuation_f then,
                             void *arg);

#endif
