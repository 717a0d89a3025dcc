/* SPDX-License-Identifier: Apache-2.0 */
/* The memory keeper when memory is out: malloc of state/ is the one here (the linker's --wrap). */

#include "tests/unit/state/fixture.h"

#include "state/packed.h"
#include "state/rows.h"

/* NOLINTBEGIN(readability-identifier-naming): the linker chose the names. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static int allocations_left = -1; /* negative: no limit */

static bool exhausted(void)
{
    if (allocations_left < 0)
        return false;
    if (allocations_left == 0)
        return true;
    allocations_left--;
    return false;
}

void *__wrap_malloc(size_t size)
{
    return exhausted() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return exhausted() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return exhausted() ? NULL : __real_realloc(memory, size);
}

/* NOLINTEND(readability-identifier-naming) */

/* Enough records for the array of rows to grow. */
static struct batch *large_batch(struct store *store)
{
    struct batch *batch = batch_create(store);
    for (uint64_t i = 1; i <= 100; i++) {
        struct record records[] = {reservation(i, "f1"), event(i, i)};
        assert_int_equal(batch_add(batch, &records[0]), 0);
        assert_int_equal(batch_add(batch, &records[1]), 0);
    }
    return batch;
}

static void commit__out_of_memory_keeps_nothing_and_works_later(void **state)
{
    struct fixture *fixture = *state;
    struct batch *batch = large_batch(fixture->store);
    struct outcome outcome;
    int failures = 0;
    for (int allowed = 0;; allowed++) {
        struct outcome noted = {0};
        allocations_left = allowed;
        store_commit(fixture->store, batch, note_outcome, &noted);
        allocations_left = -1;
        await_readable(fixture->store);
        store_dispatch(fixture->store);
        outcome = noted;
        if (outcome.result.code == 0)
            break;
        failures++;
        assert_int_equal(outcome.result.code, ERROR_FULL);
        assert_int_equal(outcome.result.error.code, ERROR_FULL);
        assert_non_null(strstr(outcome.result.error.text, "out of memory"));
        assert_ptr_equal(outcome.failed, batch);
        assert_ledger(fixture->store, "counters 0 0\n");
    }
    assert_true(failures > 200);
    assert_null(outcome.failed);
    char *text = ledger_text(fixture->store);
    assert_non_null(strstr(text, "counters 100 100\nreservation 1 "));
    assert_non_null(strstr(text, "event 100 of 100\n"));
    free(text);
}

static void batch__out_of_memory_stays_as_it_was(void **state)
{
    struct fixture *fixture = *state;
    struct record record = reservation(1, "f1");
    allocations_left = 0;
    assert_null(batch_create(fixture->store));
    allocations_left = 1;
    struct batch *batch = batch_create(fixture->store);
    int code = batch_add(batch, &record);
    allocations_left = -1;
    assert_int_equal(code, ERROR_NOMEM);
    assert_int_equal(batch_size(batch), 0);
    assert_int_equal(batch_add(batch, &record), 0);
    assert_int_equal(commit_batch(fixture->store, batch).result.code, 0);
    assert_ledger(fixture->store, "counters 1 0\nreservation 1 elcap-f1\n");
}

static void store__out_of_memory_cannot_be_opened(void **state)
{
    (void)state;
    struct error err = {0};
    allocations_left = 0;
    struct store *store = store_memory_open(&err);
    allocations_left = -1;
    assert_null(store);
    assert_int_equal(err.code, ERROR_NOMEM);
}

/* A million jobs that come and go take the room of those that are there at once. */
static void rows__stay_as_small_as_what_they_hold(void **state)
{
    (void)state;
    struct rows rows = {0};
    for (uint64_t key = 1; key <= 100000; key++) {
        struct record record = reservation(key, "f1");
        assert_int_equal(rows_reserve(&rows, 1), 0);
        rows_put(&rows, key, packed_create(&record));
        if (key > 100)
            rows_drop(&rows, key % 3 ? key - 100 : key - 50);
        rows_drop_through(&rows, key > 100 ? key - 100 : 0);
    }
    assert_true(rows.capacity <= 512);
    rows_release(&rows);
}

#define ON_MEMORY(test)                                                                            \
    {                                                                                              \
#test, test, fixture_setup, fixture_teardown, (void *)&keeper_memory                       \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_MEMORY(commit__out_of_memory_keeps_nothing_and_works_later),
        ON_MEMORY(batch__out_of_memory_stays_as_it_was),
        cmocka_unit_test(store__out_of_memory_cannot_be_opened),
        cmocka_unit_test(rows__stay_as_small_as_what_they_hold),
    };
    return cmocka_run_group_tests_name("state_memory", tests, NULL, NULL);
}
