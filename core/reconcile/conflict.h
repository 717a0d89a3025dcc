/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CORE_RECONCILE_CONFLICT_H
#define MCAST_CORE_RECONCILE_CONFLICT_H

#include "core/state.h"

/* There is something under a name of ours that may be another broker's. */
void conflict_raise(struct core *core, const char *cluster, const char *job, const char *why);
void conflict_resume(struct core *core); /* after a restart */
void conflict_watch(struct core *core);  /* after a whole list: ends alarms whose cause is gone */
void core_claim(struct core *core, const struct core_event *event);

#endif
