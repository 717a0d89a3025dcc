#ifndef MCAST_STATE_WORKER_H
#define MCAST_STATE_WORKER_H

#include <stdbool.h>

/* One thread that runs one thing at a time, and an eventfd by which a loop learns that it is done.
 *
 * Whatever the owner wrote before worker_start is seen by run, and what run wrote is seen by the
 * owner once worker_collect has said true. All signals are blocked in the thread. */

struct worker;

/* NULL, with errno set, when there is no memory, descriptor or thread left. */
struct worker *worker_create(void (*run)(void *arg), void *arg);

/* Has run called once, in the thread. Not again before worker_collect said true. */
void worker_start(struct worker *worker);

/* Readable once run has returned, until worker_collect. Owned by the worker. */
int worker_fd(const struct worker *worker);

/* True once for each run that has returned. */
bool worker_collect(struct worker *worker);

/* Waits for a run that was started, ends the thread, frees. NULL is allowed. */
void worker_destroy(struct worker *worker);

#endif
