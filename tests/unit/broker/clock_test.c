/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "broker/clock.h"

#include <time.h>

static void clock__follows_the_steady_clock(void **state)
{
    int64_t offset_ns = clock_offset_ns(), shift_ms = 86400000;
    int64_t now = clock_now_ms(offset_ns), shifted = clock_now_ms(offset_ns + shift_ms * 1000000);
    assert_in_range(shifted - now, shift_ms, shift_ms + 60000);
}

static void clock__never_runs_back(void **state)
{
    const int64_t offset_ns = clock_offset_ns();
    int64_t last = clock_now_ms(offset_ns);
    for (int i = 0; i < 100000; i++) {
        int64_t now = clock_now_ms(offset_ns);
        assert_true(now >= last);
        last = now;
    }
}

static void clock__is_unix_time(void **state)
{
    int64_t before = (int64_t)time(NULL);
    int64_t now = clock_now_ms(clock_offset_ns());
    /* time() may be a tick of the kernel's coarse clock behind. */
    assert_true(now / 1000 >= before);
    assert_true(now < 4102444800000); /* the year 2100 */
}

UNIT_MAIN(cmocka_unit_test(clock__follows_the_steady_clock),
          cmocka_unit_test(clock__never_runs_back), cmocka_unit_test(clock__is_unix_time))
