/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/queue.h"

#include "tests/sim/grow.h"

#include <stdlib.h>
#include <string.h>

void queue_init(struct queue *queue)
{
    memset(queue, 0, sizeof *queue);
}

void queue_release(struct queue *queue)
{
    free(queue->heap);
    memset(queue, 0, sizeof *queue);
}

static bool before(const struct occurrence *a, const struct occurrence *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->order < b->order;
}

void queue_add(struct queue *queue, int64_t at_ms,
               void (*happen)(struct sim *sim, void *what, uint64_t mark), void *what,
               uint64_t mark)
{
    struct occurrence added = {at_ms, queue->next_order++, happen, what, mark};
    GROW(queue->heap, queue->count, queue->room);
    size_t at = queue->count++;
    while (at > 0 && before(&added, &queue->heap[(at - 1) / 2])) {
        queue->heap[at] = queue->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    queue->heap[at] = added;
}

bool queue_take(struct queue *queue, int64_t until_ms, struct occurrence *out)
{
    if (queue->count == 0 || queue->heap[0].at_ms > until_ms)
        return false;
    *out = queue->heap[0];
    struct occurrence last = queue->heap[--queue->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= queue->count)
            break;
        if (child + 1 < queue->count && before(&queue->heap[child + 1], &queue->heap[child]))
            child++;
        if (!before(&queue->heap[child], &last))
            break;
        queue->heap[at] = queue->heap[child];
        at = child;
    }
    if (queue->count > 0)
        queue->heap[at] = last;
    return true;
}
