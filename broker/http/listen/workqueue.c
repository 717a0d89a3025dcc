/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/workqueue.h"

#include "broker/http/listen/httpworker.h"

#include <assert.h>

void workqueue_init(struct workqueue *queue)
{
    *queue = (struct workqueue){0};
    TAILQ_INIT(&queue->all);
    TAILQ_INIT(&queue->shared);
    TAILQ_INIT(&queue->users);
}

/* A user without another worker counts as served just now: he waits for those who came before. */
void workqueue_assign(struct workqueue *queue, struct httpworker *worker, uint64_t user)
{
    const struct httpworker *other;
    assert(!worker->queued);
    worker->served = queue->turns;
    TAILQ_FOREACH(other, &queue->all, link)
    if (other != worker && other->user == user)
        worker->served = other->served;
    worker->user = user;
}

static struct worker_list *list_of(struct workqueue *queue, const struct httpworker *worker)
{
    return worker->user == WORKQUEUE_SHARED ? &queue->shared : &queue->users;
}

void workqueue_add(struct workqueue *queue, struct httpworker *worker)
{
    if (worker->queued)
        return;
    worker->queued = true;
    TAILQ_INSERT_TAIL(list_of(queue, worker), worker, turn);
}

static struct httpworker *take(struct workqueue *queue, struct httpworker *worker)
{
    if (worker) {
        TAILQ_REMOVE(list_of(queue, worker), worker, turn);
        worker->queued = false;
    }
    return worker;
}

struct httpworker *workqueue_take_shared(struct workqueue *queue)
{
    return take(queue, TAILQ_FIRST(&queue->shared));
}

struct httpworker *workqueue_take_user(struct workqueue *queue)
{
    struct httpworker *next = TAILQ_FIRST(&queue->users), *other;
    if (!next)
        return NULL;
    TAILQ_FOREACH(other, &queue->users, turn)
    if (other->served < next->served)
        next = other;
    queue->turns++;
    TAILQ_FOREACH(other, &queue->all, link)
    if (other->user == next->user)
        other->served = queue->turns;
    return take(queue, next);
}
