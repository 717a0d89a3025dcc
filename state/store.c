/* SPDX-License-Identifier: Apache-2.0 */
#include "state/store.h"

#include "state/batch.h"

#include <assert.h>

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
