/* SPDX-License-Identifier: Apache-2.0 */
/* The largest value of the last minutes (B8). */
#include "broker/metrics/histogram.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

enum { MINUTE = 60000 };

static void peak__empty_is_nothing(void **state)
{
    (void)state;
    struct peak peak = {0};
    assert_int_equal(peak_value(&peak, 0), 0);
    assert_int_equal(peak_value(&peak, 1000LL * MINUTE), 0);
}

static void peak__largest_of_the_window(void **state)
{
    (void)state;
    struct peak peak = {0};
    peak_add(&peak, 10 * MINUTE, 5);
    peak_add(&peak, 10 * MINUTE + 1, 9);
    peak_add(&peak, 12 * MINUTE, 7);
    assert_int_equal(peak_value(&peak, 12 * MINUTE), 9);
}

static void peak__is_forgotten_after_five_minutes(void **state)
{
    (void)state;
    struct peak peak = {0};
    peak_add(&peak, 10 * MINUTE, 9);
    peak_add(&peak, 12 * MINUTE, 7);
    assert_int_equal(peak_value(&peak, 15 * MINUTE - 1), 9);
    assert_int_equal(peak_value(&peak, 15 * MINUTE), 7);
    assert_int_equal(peak_value(&peak, 17 * MINUTE), 0);
}

/* Slots are used again: what they held minutes ago must not come back. */
static void peak__gap_of_any_length_leaves_nothing_behind(void **state)
{
    (void)state;
    for (int gap = 5; gap < 23; gap++) {
        struct peak peak = {0};
        for (int minute = 0; minute < 5; minute++)
            peak_add(&peak, minute * MINUTE, 100);
        peak_add(&peak, (4 + gap) * MINUTE, 1);
        assert_int_equal(peak_value(&peak, (4 + gap) * MINUTE), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peak__empty_is_nothing),
        cmocka_unit_test(peak__largest_of_the_window),
        cmocka_unit_test(peak__is_forgotten_after_five_minutes),
        cmocka_unit_test(peak__gap_of_any_length_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
