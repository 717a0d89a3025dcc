/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CORE_RECONCILE_LISTING_H
#define MCAST_CORE_RECONCILE_LISTING_H

#include "core/state.h"

/* Takes in what was found at the fabric manager; NULL: it is over already. */
struct reservation *listing_take_in(struct core *core, const char *cluster, const char *job,
                                    enum job_state state, enum reservation_origin origin,
                                    const char *reason);
/* The fabric manager has this token for one that was found, and whose job is over. */
void listing_leftover(struct core *core, struct reservation *reservation, struct secret token);
void listing_names(struct core *core, const struct core_event *event);
void listing_done(struct core *core, const struct core_event *event);

#endif
