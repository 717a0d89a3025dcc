/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CORE_RECONCILE_JOBPOLL_H
#define MCAST_CORE_RECONCILE_JOBPOLL_H

#include "core/state.h"

void jobpoll_start(struct core *core); /* at the start, and when the link is up again: all */
void jobpoll_soon(struct core *core, struct cluster *cluster); /* one that begins from now on */
void jobpoll_configure(struct core *core);
void jobpoll_tick(struct core *core);
int64_t jobpoll_deadline(const struct core *core);
void jobpoll_done(struct core *core, const struct core_event *event);
void jobpoll_compared(struct core *core, const struct joblist *list); /* its last lot */
void jobpoll_dropped(const struct joblist *list);

#endif
