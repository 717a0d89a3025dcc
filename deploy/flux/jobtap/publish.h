#ifndef MCAST_FLUX_PUBLISH_H
#define MCAST_FLUX_PUBLISH_H

/* Tells the job's nodes and people what was granted, as the script prolog does: the whole
 * reservation, token included, under "mcast" in the job's part of the KVS, which its owner and the
 * instance's can read; and a memo without the token for everybody. */

#include "deploy/flux/jobtap/jobtap.h"

/* then is called when the KVS has it; the future is then's, or to be destroyed to give it up.
 * NULL: it cannot be done. */
flux_future_t *publish_grant(struct jobtap *jobtap, flux_jobid_t id,
                             const struct mcast_reservation *reservation, flux_continuation_f then,
                             void *arg);

#endif
