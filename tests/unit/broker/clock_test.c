/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "broker/clock.h"

#include <time.h>

UNIT(clock__follows_the_steady_clock)
{
    int64_t offset_ns = clock_offset_ns(), shift_ms = 86400000;
    int64_t now = clock_now_ms(offset_ns), shifted = clock_now_ms(offset_ns + shift_ms * 1000000);
    assert_in_range(shifted - now, shift_ms, shift_ms + 60000);
}

UNIT(clock__never_runs_back)
{
    const int64_t offset_ns = clock_offset_ns();
    int64_t last = clock_now_ms(offset_ns);
    for (int i = 0; i < 100000; i++) {
        int64_t now = clock_now_ms(offset_ns);
        assert_true(now >= last);
        last = now;
    }
}

UNIT(clock__is_unix_time)
{
    int64_t before = (int64_t)time(NULL);
    int64_t now = clock_now_ms(clock_offset_ns());
    /* time() may be a tick of the kernel's coarse clock behind. */
    assert_true(now / 1000 >= before);
    assert_true(now < 4102444800000); /* the year 2100 */
}

UNIT_RUN(NULL, NULL)
