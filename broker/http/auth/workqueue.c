/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/workqueue.h"

#include <assert.h>
#include <stdlib.h>

static void remove_work(struct work *work)
{
    struct workqueue *queue = work->queue;
    TAILQ_REMOVE(&queue->works, work, link);
    queue->count--;
    queue->kind->done(work);
}

static void close_if_idle(struct workqueue *queue)
{
    if (!queue->timer_closed || queue->running > 0)
        return;
    void (*closed)(void *arg) = queue->closed;
    void *arg = queue->closed_arg;
    free(queue);
    closed(arg);
}

/* ---- threads ---- */

static void on_thread(uv_work_t *request)
{
    struct work *work = request->data;
    work->queue->kind->ask(work);
}

static void start_works(struct workqueue *queue);

static void on_asked(uv_work_t *request, int status)
{
    struct work *work = request->data;
    struct workqueue *queue = work->queue;
    (void)status; /* is never cancelled */
    queue->running--;
    remove_work(work);
    start_works(queue);
    close_if_idle(queue);
}

static void start_works(struct workqueue *queue)
{
    struct work *work = TAILQ_FIRST(&queue->works);
    for (; work && queue->running < WORKQUEUE_THREADS; work = TAILQ_NEXT(work, link)) {
        if (work->running)
            continue;
        /* Fails only without a work function. */
        (void)uv_queue_work(queue->loop, &work->request, on_thread, on_asked);
        work->running = true;
        queue->running++;
    }
}

/* ---- deadlines ---- */

static void on_timer(uv_timer_t *timer);

static void set_timer(struct workqueue *queue)
{
    const struct work *work = TAILQ_FIRST(&queue->works);
    const uint64_t now = uv_now(queue->loop);
    while (work && work->overdue)
        work = TAILQ_NEXT(work, link);
    if (work)
        uv_timer_start(&queue->timer, on_timer, work->deadline > now ? work->deadline - now : 0, 0);
    else
        uv_timer_stop(&queue->timer);
}

/* What a thread works on stays in the queue until the thread returns. */
static void on_timer(uv_timer_t *timer)
{
    struct workqueue *queue = timer->data;
    const uint64_t now = uv_now(queue->loop);
    struct work *work = TAILQ_FIRST(&queue->works);
    for (struct work *next; work && work->deadline <= now; work = next) {
        next = TAILQ_NEXT(work, link);
        if (work->overdue)
            continue;
        work->overdue = true;
        queue->kind->overdue(work);
        if (!work->running)
            remove_work(work);
    }
    set_timer(queue);
}

/* ---- workqueue.h ---- */

void workqueue_init(struct workqueue *queue, uv_loop_t *loop, const struct workqueue_kind *kind)
{
    *queue = (struct workqueue){.loop = loop, .kind = kind};
    TAILQ_INIT(&queue->works);
    uv_timer_init(loop, &queue->timer);
    queue->timer.data = queue;
}

void workqueue_add(struct workqueue *queue, struct work *work)
{
    work->queue = queue;
    work->running = work->overdue = false;
    work->request.data = work;
    work->deadline = uv_now(queue->loop) + WORKQUEUE_DEADLINE_MS;
    TAILQ_INSERT_TAIL(&queue->works, work, link);
    queue->count++;
    if (!uv_is_active((uv_handle_t *)&queue->timer))
        set_timer(queue);
    start_works(queue);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct workqueue *queue = handle->data;
    queue->timer_closed = true;
    close_if_idle(queue);
}

void workqueue_close(struct workqueue *queue, void (*closed)(void *arg), void *arg)
{
    assert(queue->count == queue->running);
    queue->closed = closed;
    queue->closed_arg = arg;
    uv_close((uv_handle_t *)&queue->timer, on_timer_closed);
}
