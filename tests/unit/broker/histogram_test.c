/* SPDX-License-Identifier: Apache-2.0 */
/* Buckets for Prometheus (B8). */
#include "tests/unit/unit.h"

#include "broker/metrics/histogram.h"

UNIT(histogram__bounds_rise)
{
    const enum histogram_scale scales[] = {HISTOGRAM_TIMES, HISTOGRAM_SIZES};
    for (size_t i = 0; i < 2; i++) {
        size_t bounds = histogram_bounds(scales[i]);
        assert_true(bounds > 1 && bounds <= HISTOGRAM_BOUNDS);
        for (size_t b = 1; b < bounds; b++)
            assert_true(histogram_bound(scales[i], b) > histogram_bound(scales[i], b - 1));
    }
}

/* "le" means less or equal: a value on a bound is below it. */
UNIT(histogram__value_on_a_bound_is_in_its_bucket)
{
    for (size_t b = 0; b < histogram_bounds(HISTOGRAM_TIMES); b++) {
        struct histogram times = {0};
        uint64_t bound = histogram_bound(HISTOGRAM_TIMES, b);
        histogram_add(&times, (int64_t)bound);
        assert_int_equal(times.buckets[b], 1);
        histogram_add(&times, (int64_t)bound + 1);
        assert_int_equal(times.buckets[b], 1);
        assert_int_equal(times.buckets[b + 1], 1);
    }
}

UNIT(histogram__value_above_all_bounds_is_in_the_last)
{
    struct histogram sizes = {.scale = HISTOGRAM_SIZES};
    histogram_add(&sizes, 1000000);
    assert_int_equal(sizes.buckets[HISTOGRAM_BOUNDS], 1);
    assert_int_equal(sizes.count, 1);
}

UNIT(histogram__counts_and_sums)
{
    struct histogram times = {0};
    uint64_t all = 0;
    histogram_add(&times, 90);
    histogram_add(&times, 4000);
    histogram_add(&times, 0);
    assert_int_equal(times.count, 3);
    assert_int_equal(times.sum, 4090);
    for (size_t b = 0; b <= HISTOGRAM_BOUNDS; b++)
        all += times.buckets[b];
    assert_int_equal(all, times.count);
}

UNIT(histogram__negative_value_counts_as_nothing)
{
    struct histogram times = {0};
    histogram_add(&times, -7);
    assert_int_equal(times.count, 1);
    assert_int_equal(times.sum, 0);
    assert_int_equal(times.buckets[0], 1);
}

enum { MINUTE = 60000 };

UNIT(peak__empty_is_nothing)
{
    struct peak peak = {0};
    assert_int_equal(peak_value(&peak, 0), 0);
    assert_int_equal(peak_value(&peak, 1000LL * MINUTE), 0);
}

UNIT(peak__largest_of_the_window)
{
    struct peak peak = {0};
    peak_add(&peak, 10 * MINUTE, 5);
    peak_add(&peak, 10 * MINUTE + 1, 9);
    peak_add(&peak, 12 * MINUTE, 7);
    assert_int_equal(peak_value(&peak, 12 * MINUTE), 9);
}

UNIT(peak__is_forgotten_after_five_minutes)
{
    struct peak peak = {0};
    peak_add(&peak, 10 * MINUTE, 9);
    peak_add(&peak, 12 * MINUTE, 7);
    assert_int_equal(peak_value(&peak, 15 * MINUTE - 1), 9);
    assert_int_equal(peak_value(&peak, 15 * MINUTE), 7);
    assert_int_equal(peak_value(&peak, 17 * MINUTE), 0);
}

/* Slots are used again: what they held minutes ago must not come back. */
UNIT(peak__gap_of_any_length_leaves_nothing_behind)
{
    for (int gap = 5; gap < 23; gap++) {
        struct peak peak = {0};
        for (int minute = 0; minute < 5; minute++)
            peak_add(&peak, minute * MINUTE, 100);
        peak_add(&peak, (4 + gap) * MINUTE, 1);
        assert_int_equal(peak_value(&peak, (4 + gap) * MINUTE), 1);
    }
}

UNIT_RUN(NULL, NULL)
