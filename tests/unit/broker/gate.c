/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/broker/gate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int load(struct store *store, int (*each)(void *, const struct record *), void *arg,
                struct error *err)
{
    struct record counters = {.kind = RECORD_COUNTERS};
    struct gate *gate = (struct gate *)store;
    eventfd_t count;
    (void)eventfd_read(gate->fd, &count);
    if (gate->pages-- > 0)
        return eventfd_write(gate->fd, 1) == 0;
    return gate->damaged ? error_set(err, ERROR_CORRUPT, "the gate is damaged")
                         : each(arg, &counters);
}

static void commit(struct store *store, struct batch *batch, store_done_fn *done, void *arg)
{
    struct gate *gate = (struct gate *)store;
    assert(!gate->batch && !gate->ready); /* batches never overlap */
    gate->batch = batch;
    gate->done = done;
    gate->arg = arg;
    gate->commits++;
    if (gate->automatic) {
        gate->open = true;
        gate->code = 0;
        (void)eventfd_write(gate->fd, 1);
    }
}

static bool offer(struct store *store, struct batch *batch, store_done_fn *done, void *arg)
{
    struct gate *gate = (struct gate *)store;
    assert(gate->batch && !gate->ready && !gate->taken);
    assert(done == gate->done && arg == gate->arg);
    if (gate->takes)
        gate->ready = batch;
    return gate->takes;
}

static struct batch *withdraw(struct store *store)
{
    struct gate *gate = (struct gate *)store;
    struct batch *batch = gate->ready;
    gate->ready = NULL;
    return batch;
}

static void take(struct gate *gate)
{
    if (gate->ready)
        gate->commits++;
    gate->taken = gate->ready;
    gate->ready = NULL;
}

void gate_take(struct gate *gate)
{
    assert(gate->ready);
    take(gate);
}

static int fd(const struct store *store)
{
    return ((const struct gate *)store)->fd;
}

static void dispatch(struct store *store)
{
    struct gate *gate = (struct gate *)store;
    eventfd_t count;
    if (eventfd_read(gate->fd, &count) < 0 || !gate->open)
        return;
    struct batch *batch = gate->batch;
    struct commit_result result = {.code = gate->code, .took_us = 7};
    if (result.code != 0)
        (void)error_set(&result.error, result.code, "the gate says %s", error_word(result.code));
    gate->open = false;
    if (result.code == 0 && !gate->taken)
        take(gate);
    gate->batch = gate->taken;
    gate->taken = NULL;
    if (result.code == 0) {
        gate->records += batch_size(batch);
        batch_destroy(batch);
        batch = NULL;
    }
    gate->done(gate->arg, &result, batch);
}

static void shut(struct store *store)
{
    struct gate *gate = (struct gate *)store;
    batch_destroy(gate->batch);
    batch_destroy(gate->ready);
    batch_destroy(gate->taken);
    gate->batch = gate->ready = gate->taken = NULL;
    gate->closed = true;
}

void gate_init(struct gate *gate, bool automatic)
{
    static const struct store_ops ops = {.load = load,
                                         .commit = commit,
                                         .offer = offer,
                                         .withdraw = withdraw,
                                         .fd = fd,
                                         .dispatch = dispatch,
                                         .close = shut};
    memset(gate, 0, sizeof *gate);
    gate->store.ops = &ops;
    gate->automatic = automatic;
    gate->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert(gate->fd >= 0);
}

void gate_release(struct gate *gate)
{
    shut(&gate->store);
    close(gate->fd);
}

void gate_finish(struct gate *gate, uv_loop_t *loop, int code)
{
    assert(gate->batch);
    gate->code = code;
    gate->open = true;
    (void)eventfd_write(gate->fd, 1);
    while (gate->open)
        (void)uv_run(loop, UV_RUN_ONCE);
}

static void expired(uv_timer_t *timer)
{
    abort(); /* waited a minute for something that should happen at once */
}

static void limit_closed(uv_handle_t *handle)
{
    *(bool *)handle->data = true;
}

void gate_await(uv_loop_t *loop, const unsigned *condition, unsigned least)
{
    uv_timer_t limit;
    bool gone = false;
    uv_timer_init(loop, &limit);
    limit.data = &gone;
    uv_timer_start(&limit, expired, 60000, 0);
    while (*condition < least)
        (void)uv_run(loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&limit, limit_closed);
    while (!gone)
        (void)uv_run(loop, UV_RUN_NOWAIT);
}
