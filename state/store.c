/* SPDX-License-Identifier: Apache-2.0 */
#include "state/store.h"

#include "state/batch.h"

#include <assert.h>
#include <time.h>

int store_load(struct store *store, int (*each)(void *arg, const struct record *record), void *arg,
               struct error *err)
{
    assert(store && each);
    return store->ops->load(store, each, arg, err);
}

int store_refuse(struct store *store, struct error *err)
{
    assert(store && err->code < 0);
    if (store->ops->refuse)
        store->ops->refuse(store, err);
    return err->code;
}

void store_commit(struct store *store, struct batch *batch, store_done_fn *done, void *arg)
{
    assert(batch->count > 0 && done);
    store->ops->commit(store, batch, done, arg);
}

bool store_offer(struct store *store, struct batch *batch, store_done_fn *done, void *arg)
{
    assert(batch->count > 0 && done);
    return store->ops->offer && store->ops->offer(store, batch, done, arg);
}

struct batch *store_withdraw(struct store *store)
{
    assert(store->ops->withdraw);
    return store->ops->withdraw(store);
}

int store_fd(const struct store *store)
{
    assert(store);
    return store->ops->fd(store);
}

void store_dispatch(struct store *store)
{
    assert(store);
    store->ops->dispatch(store);
}

void store_close(struct store *store)
{
    if (store)
        store->ops->close(store);
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void commit_begin(struct commit *commit, struct batch *batch, store_done_fn *done, void *arg)
{
    assert(!commit->batch);
    assert(batch->count > 0 && done);
    *commit = (struct commit){.batch = batch, .done = done, .arg = arg, .began_us = now_us()};
}

void commit_end(struct commit *commit, int code)
{
    assert(commit->batch && code <= 0);
    commit->result.code = code;
    commit->result.error.code = code;
    commit->result.took_us = now_us() - commit->began_us;
}

void commit_report(struct commit *commit)
{
    assert(commit->batch && commit->done);
    struct commit ended = *commit;
    *commit = (struct commit){0};
    assert(ended.result.code <= 0 && ended.result.took_us >= 0);
    if (ended.result.code == 0) {
        batch_destroy(ended.batch);
        ended.batch = NULL;
    }
    ended.done(ended.arg, &ended.result, ended.batch);
}

void commit_drop(struct commit *commit)
{
    assert(commit);
    batch_destroy(commit->batch);
    *commit = (struct commit){0};
}
