/* SPDX-License-Identifier: Apache-2.0 */
/* What one may have of what others need, too: as of tokens (B3, B8). */

#include "broker/http/auth/pace.h"
#include "tests/unit/unit.h"

enum { AT_ONCE = 100, EVERY_MS = 1000 };

static struct pace limit;

/* Of so many that none has more reservations than he may. */
static uint32_t uid_of(uint64_t number)
{
    return (uint32_t)(number / (PACE_OF_USER / 2));
}

static int forget(void **state)
{
    limit = (struct pace){0};
    return 0;
}

static uint64_t take(uint64_t number, uint32_t uid, uint64_t now_ms)
{
    return pace_take(&limit, number, uid, EVERY_MS, (AT_ONCE - 1) * EVERY_MS, now_ms);
}

/* How many of the reservation's wishes are granted in a row at this moment. */
static unsigned take_all(uint64_t number, uint64_t now_ms)
{
    unsigned taken = 0;
    while (take(number, uid_of(number), now_ms) == 0)
        taken++;
    return taken;
}

UNIT_WITH(reservation__has_its_tokens_at_once_and_then_one_a_second, forget, NULL)
{
    const uint64_t now = 5000;
    assert_int_equal(take_all(7, now), AT_ONCE);
    assert_int_equal(take(7, uid_of(7), now), EVERY_MS);
    assert_int_equal(take(7, uid_of(7), now + 400), EVERY_MS - 400);
    assert_int_equal(take_all(7, now + EVERY_MS), 1);
    assert_int_equal(take_all(7, now + 4 * EVERY_MS), 3);
    assert_int_equal(take_all(7, now + 1000 * EVERY_MS), AT_ONCE);
}

UNIT_WITH(reservation__is_not_kept_waiting_by_another, forget, NULL)
{
    assert_int_equal(take_all(7, 1), AT_ONCE);
    assert_int_equal(take_all(8, 1), AT_ONCE);
    assert_true(take(7, uid_of(7), 1) > 0);
}

/* Beyond those that can be remembered one more waits for the first that may be forgotten; nothing
 * that is counted is forgotten for it. */
UNIT_WITH(reservations__have_a_limit_together, forget, NULL)
{
    for (uint64_t number = 1; number <= PACE_ENTRIES; number++)
        assert_int_equal(take(number, uid_of(number), number), 0);
    const uint64_t now = PACE_ENTRIES, more = PACE_ENTRIES + 1;
    assert_int_equal(take(more, uid_of(more), now), 1 + EVERY_MS - now);
    assert_int_equal(take_all(1, now), AT_ONCE - 1);
    assert_int_equal(take(more, uid_of(more), 2 + EVERY_MS), 0);
    assert_int_equal(take_all(1, 2 + EVERY_MS), 1); /* it was not forgotten */
}

/* One user with many jobs takes no place that another's needs, and waits for his own only. */
UNIT_WITH(user__stops_no_others, forget, NULL)
{
    enum { HE = 4000, SHE = 0, MANY = 3 * PACE_ENTRIES };
    unsigned granted = 0;
    for (uint64_t number = 1; number <= MANY; number++)
        granted += take(number, HE, 1) == 0;
    assert_int_equal(granted, PACE_OF_USER);
    assert_int_equal(take(MANY, HE, 401), EVERY_MS - 400);
    assert_int_equal(take(MANY + 1, SHE, 1), 0);
    assert_int_equal(take(1, HE, 1), 0); /* one that has a place */
    assert_int_equal(take(MANY, HE, 1 + EVERY_MS), 0);
}

/* What costs much has a long rest, and is had once however much it costs. */
UNIT_WITH(cost__is_what_it_takes, forget, NULL)
{
    assert_int_equal(pace_take(&limit, 7, 1, 5000, 2000, 10), 0);
    assert_int_equal(pace_take(&limit, 7, 1, 1, 2000, 10), 3000);
    assert_int_equal(pace_take(&limit, 7, 1, 1, 2000, 3010), 0);
    assert_int_equal(pace_take(&limit, 8, 2, 5000, 2000, 10), 0);
}

UNIT_RUN(NULL, NULL)
