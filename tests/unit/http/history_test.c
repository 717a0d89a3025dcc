/* SPDX-License-Identifier: Apache-2.0 */
/* The last hour in samples, for who has no Prometheus (B5). */

#include "broker/http/metrics/history.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static struct histogram reserves;
static const struct core_status status = {.vnis_live = 3,
                                          .vnis_in_quarantine = 2,
                                          .vnis_suspect = 1,
                                          .calls_queued_reserve = 4,
                                          .calls_queued_check = 5};

static int make(void **state)
{
    reserves = (struct histogram){0};
    *state = test_calloc(1, sizeof(struct history));
    return 0;
}

static int drop(void **state)
{
    test_free(*state);
    return 0;
}

#define HISTORY_TEST(name) UNIT_WITH(name, make, drop)

HISTORY_TEST(sample__is_of_its_own_time)
{
    struct history *history = *state;
    uint64_t number = 0;
    assert_true(history_due(history, 1000000));
    histogram_add(&reserves, 40000000);
    history_take(history, 1000000, &reserves, &status);
    assert_false(history_due(history, 1000000 + HISTORY_EVERY_MS - 1));
    assert_true(history_due(history, 1000000 + HISTORY_EVERY_MS));
    for (int i = 0; i < 99; i++)
        histogram_add(&reserves, 800);
    histogram_add(&reserves, 2000000);
    history_take(history, 1000000 + 12345, &reserves, &status);
    const struct history_sample *first = history_next(history, 0, &number);
    assert_int_equal(first->since_ms, HISTORY_EVERY_MS);
    assert_int_equal(first->reserves, 1);
    assert_int_equal(first->half_us, 60000000);
    const struct history_sample *second = history_next(history, 0, &number);
    assert_int_equal(second->at_ms, 1012345);
    assert_int_equal(second->since_ms, 12345);
    assert_int_equal(second->reserves, 100);
    assert_int_equal(second->half_us, 1000);
    assert_int_equal(second->worst_us, 1000); /* one in 100 took longer */
    assert_int_equal(second->queue, 9);
    assert_int_equal(second->live, 3);
    assert_int_equal(second->held, 2);
    assert_int_equal(second->quarantined, 1);
    assert_null(history_next(history, 0, &number));
}

HISTORY_TEST(sample__has_no_times_without_a_reserve)
{
    struct history *history = *state;
    uint64_t number = 0;
    history_take(history, 1, &reserves, &status);
    histogram_add(&reserves, INT64_MAX); /* above all bounds */
    history_take(history, 2, &reserves, &status);
    for (int i = 0; i < 2; i++) {
        const struct history_sample *sample = history_next(history, 0, &number);
        assert_int_equal(sample->reserves, i);
        assert_int_equal(sample->half_us, 0);
        assert_int_equal(sample->worst_us, 0);
    }
}

HISTORY_TEST(history__keeps_the_last_hour)
{
    struct history *history = *state;
    uint64_t number = 0;
    size_t count = 0;
    for (int64_t i = 1; i <= HISTORY_SAMPLES + 5; i++)
        history_take(history, i * HISTORY_EVERY_MS, &reserves, &status);
    for (const struct history_sample *sample; (sample = history_next(history, 0, &number)); count++)
        assert_int_equal(sample->at_ms, (int64_t)(count + 6) * HISTORY_EVERY_MS);
    assert_int_equal(count, HISTORY_SAMPLES);
    number = 0;
    const int64_t last_ms = (int64_t)(HISTORY_SAMPLES + 5) * HISTORY_EVERY_MS;
    assert_int_equal(history_next(history, last_ms - 1, &number)->at_ms, last_ms);
    assert_null(history_next(history, last_ms - 1, &number));
}

UNIT_RUN(NULL, NULL)
