/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <time.h>

static const int64_t second = 1000000000;

static void clock__begins_at_the_wall_time(void **state)
{
    (void)state;
    struct clock clock;
    clock_init_at(&clock, 1700000000 * second + 250999999, 5 * second);
    assert_int_equal(clock_at(&clock, 5 * second), 1700000000250);
}

static void clock__follows_the_steady_clock(void **state)
{
    (void)state;
    struct clock clock;
    clock_init_at(&clock, 1700000000 * second, 5 * second);
    assert_int_equal(clock_at(&clock, 5 * second + 999999), 1700000000000);
    assert_int_equal(clock_at(&clock, 5 * second + 1000000), 1700000000001);
    assert_int_equal(clock_at(&clock, 86405 * second), 1700086400000);
}

static void clock__never_runs_back(void **state)
{
    (void)state;
    struct clock clock;
    clock_init(&clock);
    int64_t last = clock_now_ms(&clock);
    for (int i = 0; i < 100000; i++) {
        int64_t now = clock_now_ms(&clock);
        assert_true(now >= last);
        last = now;
    }
}

static void clock__is_unix_time(void **state)
{
    (void)state;
    struct clock clock;
    int64_t before = (int64_t)time(NULL);
    clock_init(&clock);
    /* time() may be a tick of the kernel's coarse clock behind. */
    assert_true(clock_now_ms(&clock) / 1000 >= before);
    assert_true(clock_now_ms(&clock) < 4102444800000); /* the year 2100 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clock__begins_at_the_wall_time),
        cmocka_unit_test(clock__follows_the_steady_clock),
        cmocka_unit_test(clock__never_runs_back),
        cmocka_unit_test(clock__is_unix_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
