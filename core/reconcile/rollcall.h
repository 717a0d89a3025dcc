/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CORE_RECONCILE_ROLLCALL_H
#define MCAST_CORE_RECONCILE_ROLLCALL_H

#include "core/state.h"

void rollcall_start(struct core *core); /* at the start, and when the link is up again: all */
void rollcall_soon(struct core *core, struct cluster *cluster); /* one that begins from now on */
void rollcall_configure(struct core *core);
void rollcall_tick(struct core *core);
int64_t rollcall_deadline(const struct core *core);
void rollcall_done(struct core *core, const struct core_event *event);
void rollcall_compared(struct core *core, const struct joblist *list); /* its last lot */
void rollcall_dropped(const struct joblist *list);

#endif
