/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CORE_RECONCILE_MISSING_H
#define MCAST_CORE_RECONCILE_MISSING_H

#include "core/state.h"

/* The fabric manager says of one that should be there that there is none, or one with another
 * token. May end as `lost`. */
void missing_gone(struct core *core, struct reservation *reservation, bool other_token);
/* It is there, or need not be there any more. */
void missing_forget(struct core *core, struct operation *op);
/* A list was read whole, and operation->listed says what it named. */
void missing_compare(struct core *core);
bool missing_wants_list(const struct core *core); /* a second one concludes something */
void missing_watch(struct core *core);            /* raises the alarm or ends it */
void core_accept_loss(struct core *core, const struct core_event *event);

#endif
