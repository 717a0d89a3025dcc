/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is going to happen in virtual time, ordered by (time, order of arrival). */

struct sim;

struct occurrence {
    int64_t at_ms;
    uint64_t order;
    void (*happen)(struct sim *sim, void *what, uint64_t mark);
    void *what;    /* not owned: whoever made it keeps it until it has happened */
    uint64_t mark; /* for telling a stale occurrence, which is then ignored by happen */
};

struct queue {
    struct occurrence *heap;
    size_t count, room;
    uint64_t next_order;
};

void queue_init(struct queue *queue);
void queue_release(struct queue *queue);
void queue_add(struct queue *queue, int64_t at_ms,
               void (*happen)(struct sim *sim, void *what, uint64_t mark), void *what,
               uint64_t mark);
/* False when nothing is left that happens at or before until_ms. */
bool queue_take(struct queue *queue, int64_t until_ms, struct occurrence *out);
