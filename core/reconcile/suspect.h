/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CORE_RECONCILE_SUSPECT_H
#define MCAST_CORE_RECONCILE_SUSPECT_H

#include "core/state.h"

/* Jobs may run that the ledger does not know: free VNIs are not given out for a while. */
void suspect_begin(struct core *core, const char *cluster, const char *job, const char *why);
void suspect_resume(struct core *core); /* after a restart */
void suspect_watch(struct core *core);  /* ends it when its time has come */
int64_t suspect_deadline(const struct core *core);

#endif
