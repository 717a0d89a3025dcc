/* SPDX-License-Identifier: Apache-2.0 */
/* Two commits under way: the keeper goes on with what it was offered (store.h, G2). */

#include "tests/unit/state/fixture.h"

#include <time.h>

enum { ROUNDS = 200, LONG = 2000 };

/* Commits one batch after the other, and offers each while the one before is in progress. */
struct pipeline {
    struct store *store;
    uint64_t number; /* of the last reservation that was handed over */
    uint64_t durable;
    unsigned taken; /* batches that the keeper took by itself */
    unsigned in_flight;
    bool offered;
};

static void on_durable(void *arg, const struct commit_result *result, struct batch *failed)
{
    struct pipeline *pipeline = arg;
    assert_int_equal(result->code, 0);
    assert_null(failed);
    pipeline->in_flight--;
    pipeline->durable++;
}

static struct batch *next_batch(struct pipeline *pipeline, unsigned count)
{
    struct batch *batch = batch_create();
    for (unsigned i = 0; i < count; i++) {
        struct record record = reservation(++pipeline->number, "f1");
        batch_add(batch, &record);
    }
    return batch;
}

/* As the broker does when one is done: the next is under way already, or is begun. */
static void await_one(struct pipeline *pipeline)
{
    uint64_t before = pipeline->durable;
    await_readable(pipeline->store);
    store_dispatch(pipeline->store);
    assert_int_equal(pipeline->durable, before + 1);
    if (!pipeline->offered)
        return;
    pipeline->offered = false;
    pipeline->in_flight++;
    struct batch *batch = store_withdraw(pipeline->store);
    if (batch)
        store_commit(pipeline->store, batch, on_durable, pipeline);
    else
        pipeline->taken++;
}

static void begin(struct pipeline *pipeline, unsigned count)
{
    store_commit(pipeline->store, next_batch(pipeline, count), on_durable, pipeline);
    pipeline->in_flight++;
}

static void offer(struct pipeline *pipeline)
{
    assert_true(store_offer(pipeline->store, next_batch(pipeline, 1), on_durable, pipeline));
    pipeline->offered = true;
}

static void assert_has(struct fixture *fixture, uint64_t count)
{
    char last[64], *text = ledger_text(fixture->store);
    snprintf(last, sizeof last, "counters %ju 0\n", (uintmax_t)count);
    assert_memory_equal(text, last, strlen(last));
    snprintf(last, sizeof last, "reservation %ju elcap-f1\n", (uintmax_t)count);
    assert_string_equal(strstr(text, last), last); /* the last line */
    free(text);
}

/* Which of the two begins it is a race that both win now and then. */
static void offers__are_written_once_and_in_order(void **state)
{
    struct fixture *fixture = *state;
    struct pipeline pipeline = {.store = fixture->store};
    begin(&pipeline, 1);
    for (unsigned i = 1; i < ROUNDS; i++) {
        offer(&pipeline);
        await_one(&pipeline);
    }
    await_one(&pipeline);
    assert_int_equal(pipeline.durable, ROUNDS);
    assert_int_equal(pipeline.in_flight, 0);
    fixture_reopen(fixture);
    assert_has(fixture, ROUNDS);
}

/* It is under way, or over, before its owner has heard of the one before it. */
static void offer__is_taken_without_its_owner(void **state)
{
    struct fixture *fixture = *state;
    struct pipeline pipeline = {.store = fixture->store};
    time_t deadline = time(NULL) + DEADLINE_MS / 1000;
    while (pipeline.taken == 0) {
        assert_true(time(NULL) < deadline);
        begin(&pipeline, LONG);
        offer(&pipeline);
        await_one(&pipeline);
        await_one(&pipeline);
    }
    uint64_t count = pipeline.number;
    fixture_reopen(fixture);
    assert_has(fixture, count);
}

static void offer__is_withdrawn_to_grow(void **state)
{
    struct fixture *fixture = *state;
    struct pipeline pipeline = {.store = fixture->store};
    struct batch *batch = NULL;
    time_t deadline = time(NULL) + DEADLINE_MS / 1000;
    while (!batch) {
        assert_true(time(NULL) < deadline);
        begin(&pipeline, LONG);
        offer(&pipeline);
        pipeline.offered = false;
        batch = store_withdraw(fixture->store);
        pipeline.in_flight += !batch;
        while (!batch && pipeline.in_flight > 0)
            await_one(&pipeline);
    }
    struct record record = reservation(++pipeline.number, "f1");
    batch_add(batch, &record);
    assert_true(store_offer(fixture->store, batch, on_durable, &pipeline));
    pipeline.offered = true;
    await_one(&pipeline);
    await_one(&pipeline);
    assert_int_equal(pipeline.in_flight, 0);
    assert_has(fixture, pipeline.number);
}

/* What was acknowledged last is what the next ones were built on: a gap is worse than a delay. */
static void offer__is_not_taken_after_a_failure(void **state)
{
    struct fixture *fixture = *state;
    char away[128];
    struct outcome first = {0}, second = {0};
    struct record records[] = {reservation(1, "f1"), reservation(2, "f2")};
    snprintf(away, sizeof away, "%s.away", fixture->path);
    assert_int_equal(rename(fixture->path, away), 0);
    store_commit(fixture->store, batch_of(&records[0], 1), note_outcome, &first);
    assert_true(store_offer(fixture->store, batch_of(&records[1], 1), note_outcome, &second));
    await_readable(fixture->store);
    store_dispatch(fixture->store);
    assert_int_equal(first.result.code, ERROR_IO);
    struct batch *batch = store_withdraw(fixture->store);
    assert_non_null(batch);
    assert_int_equal(rename(away, fixture->path), 0);
    assert_int_equal(commit_batch(fixture->store, first.failed).result.code, 0);
    assert_int_equal(commit_batch(fixture->store, batch).result.code, 0);
    assert_int_equal(second.calls, 0);
    assert_ledger(fixture->store, "counters 2 0\nreservation 1 elcap-f1\nreservation 2 elcap-f2\n");
}

/* Leaks are found by the sanitizer. */
static void close__forgets_what_lies_ready(void **state)
{
    struct fixture *fixture = *state;
    for (unsigned i = 0; i < 50; i++) {
        struct pipeline pipeline = {.store = fixture->store, .number = 2 * i};
        begin(&pipeline, 1);
        offer(&pipeline);
        fixture_reopen(fixture);
        assert_int_equal(pipeline.durable, 0); /* done is not called */
    }
}

#define ON_SQLITE(test)                                                                            \
    {                                                                                              \
#test, test, fixture_setup, fixture_teardown, (void *)&keeper_sqlite                       \
    }

UNIT_MAIN(ON_SQLITE(offers__are_written_once_and_in_order),
          ON_SQLITE(offer__is_taken_without_its_owner), ON_SQLITE(offer__is_withdrawn_to_grow),
          ON_SQLITE(offer__is_not_taken_after_a_failure), ON_SQLITE(close__forgets_what_lies_ready))
