/* SPDX-License-Identifier: Apache-2.0 */
#include "state/committer.h"

#include "state/batch.h"

#include <assert.h>

/* ---- the thread ---- */

static void begin_commit(struct commit *commit, struct batch *batch, store_done_fn *done, void *arg)
{
    assert(!commit->batch);
    assert(batch->count > 0 && done);
    *commit =
        (struct commit){.batch = batch, .done = done, .arg = arg, .began_us = worker_now_us()};
}

/* True: the offered batch is next. */
static bool write_commit(struct committer *committer)
{
    struct commit *commit = &committer->commits[committer->written++ % 2];
    struct commit_result *result = &commit->result;
    assert(commit->batch);
    const int code = committer->write(&committer->store, commit->batch, &result->error);
    result->code = result->error.code = code;
    result->took_us = worker_now_us() - commit->began_us;
    struct batch *next = code == 0 ? atomic_exchange(&committer->offer.batch, NULL) : NULL;
    if (next)
        begin_commit(&committer->commits[committer->written % 2], next, committer->offer.done,
                     committer->offer.arg);
    worker_report(&committer->worker);
    return next;
}

static void run(void *arg)
{
    struct committer *committer = arg;
    void (*task)(struct store *) = committer->task;
    committer->task = NULL;
    if (task) {
        task(&committer->store);
        worker_report(&committer->worker);
        return;
    }
    while (write_commit(committer))
        ;
}

/* ---- the owner ---- */

int committer_start(struct committer *committer, const char *name, committer_write_fn *write,
                    struct error *err)
{
    assert(write && !committer->in_progress);
    committer->write = write;
    return worker_start(&committer->worker, name, run, committer, err);
}

void committer_stop(struct committer *committer)
{
    worker_stop(&committer->worker);
    batch_destroy(atomic_load(&committer->offer.batch));
    batch_destroy(committer->commits[0].batch);
    batch_destroy(committer->commits[1].batch);
}

void committer_task(struct committer *committer, void (*task)(struct store *store))
{
    assert(committer->in_progress == 0 && task);
    committer->task = task;
    worker_wake(&committer->worker);
}

void committer_commit(struct store *store, struct batch *batch, store_done_fn *done, void *arg)
{
    struct committer *committer = (struct committer *)store;
    assert(committer->in_progress == 0);
    begin_commit(&committer->commits[committer->reported % 2], batch, done, arg);
    committer->in_progress++;
    worker_wake(&committer->worker);
}

bool committer_offer(struct store *store, struct batch *batch, store_done_fn *done, void *arg)
{
    struct committer *committer = (struct committer *)store;
    assert(committer->in_progress == 1);
    assert(!committer->offered);
    assert(!atomic_load(&committer->offer.batch));
    committer->offered = true;
    committer->offer.done = done;
    committer->offer.arg = arg;
    atomic_store(&committer->offer.batch, batch);
    return true;
}

struct batch *committer_withdraw(struct store *store)
{
    struct committer *committer = (struct committer *)store;
    assert(committer->offered);
    committer->offered = false;
    struct batch *batch = atomic_exchange(&committer->offer.batch, NULL);
    committer->in_progress += !batch;
    assert(committer->in_progress <= 2);
    return batch;
}

int committer_fd(const struct store *store)
{
    const struct committer *committer = (const struct committer *)store;
    assert(committer->worker.has_thread);
    return committer->worker.ended;
}

/* The commit is free again before done is called, which may commit the next batch or close. */
void committer_dispatch(struct store *store)
{
    struct committer *committer = (struct committer *)store;
    if (!worker_reported(&committer->worker))
        return;
    assert(committer->in_progress > 0 && committer->in_progress <= 2);
    committer->in_progress--;
    struct commit *commit = &committer->commits[committer->reported++ % 2], ended = *commit;
    *commit = (struct commit){0};
    assert(ended.batch && ended.result.code <= 0 && ended.result.took_us >= 0);
    if (ended.result.code == 0) {
        batch_destroy(ended.batch);
        ended.batch = NULL;
    }
    ended.done(ended.arg, &ended.result, ended.batch);
}
