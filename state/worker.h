#ifndef MCAST_STATE_WORKER_H
#define MCAST_STATE_WORKER_H

#include <stdbool.h>

/* One thread that runs one thing at a time, and an eventfd by which a loop learns that it is done.
 *
 * Whatever the owner wrote before worker_start is seen by run, and what run wrote is seen by the
 * owner once worker_collect has said true for it. All signals are blocked in the thread. */

struct worker;

/* run returns true to be called again at once, which it may do for one run that was not collected.
 * NULL, with errno set, when there is no memory, descriptor or thread left. */
struct worker *worker_create(bool (*run)(void *arg), void *arg);

/* Has run called, in the thread. Not again before its last run, which said false, is collected. */
void worker_start(struct worker *worker);

/* Readable while there is a run to be collected. Owned by the worker. */
int worker_fd(const struct worker *worker);

/* True once for each run that has returned, in their order. */
bool worker_collect(struct worker *worker);

/* Waits for a run that was started, ends the thread, frees. NULL is allowed. */
void worker_destroy(struct worker *worker);

#endif
