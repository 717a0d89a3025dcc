/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_STATE_WORKER_H
#define MCAST_STATE_WORKER_H

#include <stdbool.h>

/* One thread that runs one function at a time, and an eventfd that signals its end to a loop.
 *
 * run sees what the owner wrote before worker_start; the owner sees what run wrote once
 * worker_collect has returned true for it. All signals are blocked in the thread. */

struct worker;

/* run returns true to be called again at once, which it may do for one run that was not collected.
 * NULL, with errno set, when there is no memory, descriptor or thread left. */
struct worker *worker_create(bool (*run)(void *arg), void *arg);

/* Calls run in the thread. Not again before its last run, which returned false, is collected. */
void worker_start(struct worker *worker);

/* Readable while there is a run to be collected. Owned by the worker. */
int worker_fd(const struct worker *worker);

/* True once for each run that has returned, in their order. */
bool worker_collect(struct worker *worker);

/* Waits for a run that was started, ends the thread, frees. NULL is allowed. */
void worker_destroy(struct worker *worker);

#endif
