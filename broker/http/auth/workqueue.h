/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

/* Questions that block, asked by worker threads of the loop: few at once, the rest queued. What has
 * waited too long is reported as overdue, even while its thread still waits. */

enum {
    WORKQUEUE_THREADS = 2, /* of the loop's six: there are three such queues */
    WORKQUEUE_DEADLINE_MS = 5000
};

struct workqueue;

/* One question; a member of its owner's struct. */
struct work {
    TAILQ_ENTRY(work) link;
    struct workqueue *queue;
    uv_work_t request;
    uint64_t deadline; /* of uv_now */
    bool running, overdue;
};

struct workqueue_kind {
    void (*ask)(struct work *work);     /* blocks; on a worker thread */
    void (*overdue)(struct work *work); /* from the loop, at most once, before done */
    void (*done)(struct work *work);    /* from the loop, once, then the queue has no use of it; not
                                           asked when it was overdue before its turn */
};

struct workqueue {
    uv_loop_t *loop;
    const struct workqueue_kind *kind;
    TAILQ_HEAD(work_list, work) works; /* the oldest first */
    uv_timer_t timer;                  /* at the oldest one's deadline */
    unsigned count, running;
    bool timer_closed;
    void (*closed)(void *arg);
    void *closed_arg;
};

void workqueue_init(struct workqueue *queue, uv_loop_t *loop, const struct workqueue_kind *kind);
/* Calls neither overdue nor done from in here. */
void workqueue_add(struct workqueue *queue, struct work *work);
/* When all that waited has been reported. From the loop, after the last thread has come back, the
 * memory that the queue is at the beginning of is freed, and closed is called. */
void workqueue_close(struct workqueue *queue, void (*closed)(void *arg), void *arg);
