/* SPDX-License-Identifier: Apache-2.0 */
/* How many tokens one reservation is given (B3, B8). */

#include "broker/http/auth/mintlimit.h"
#include "tests/unit/unit.h"

static struct mintlimit limit;

/* Of so many that none has more reservations than he may. */
static uint32_t uid_of(uint64_t number)
{
    return (uint32_t)(number / (MINTLIMIT_OF_USER / 2));
}

static int forget(void **state)
{
    limit = (struct mintlimit){0};
    return 0;
}

/* How many of the reservation's wishes are granted in a row at this moment. */
static unsigned take_all(uint64_t number, uint64_t now_ms)
{
    unsigned taken = 0;
    while (mintlimit_take(&limit, number, uid_of(number), now_ms) == 0)
        taken++;
    return taken;
}

UNIT_WITH(reservation__has_its_tokens_at_once_and_then_one_a_second, forget, NULL)
{
    const uint64_t now = 5000;
    assert_int_equal(take_all(7, now), MINTLIMIT_AT_ONCE);
    assert_int_equal(mintlimit_take(&limit, 7, uid_of(7), now), MINTLIMIT_EVERY_MS);
    assert_int_equal(mintlimit_take(&limit, 7, uid_of(7), now + 400), MINTLIMIT_EVERY_MS - 400);
    assert_int_equal(take_all(7, now + MINTLIMIT_EVERY_MS), 1);
    assert_int_equal(take_all(7, now + 4 * MINTLIMIT_EVERY_MS), 3);
    assert_int_equal(take_all(7, now + 1000 * MINTLIMIT_EVERY_MS), MINTLIMIT_AT_ONCE);
}

UNIT_WITH(reservation__is_not_kept_waiting_by_another, forget, NULL)
{
    assert_int_equal(take_all(7, 1), MINTLIMIT_AT_ONCE);
    assert_int_equal(take_all(8, 1), MINTLIMIT_AT_ONCE);
    assert_true(mintlimit_take(&limit, 7, uid_of(7), 1) > 0);
}

/* Beyond those that can be remembered one more waits for the first that may be forgotten; nothing
 * that is counted is forgotten for it. */
UNIT_WITH(reservations__have_a_limit_together, forget, NULL)
{
    for (uint64_t number = 1; number <= MINTLIMIT_RESERVATIONS; number++)
        assert_int_equal(mintlimit_take(&limit, number, uid_of(number), number), 0);
    const uint64_t now = MINTLIMIT_RESERVATIONS, more = MINTLIMIT_RESERVATIONS + 1;
    assert_int_equal(mintlimit_take(&limit, more, uid_of(more), now), 1 + MINTLIMIT_EVERY_MS - now);
    assert_int_equal(take_all(1, now), MINTLIMIT_AT_ONCE - 1);
    assert_int_equal(mintlimit_take(&limit, more, uid_of(more), 2 + MINTLIMIT_EVERY_MS), 0);
    assert_int_equal(take_all(1, 2 + MINTLIMIT_EVERY_MS), 1); /* it was not forgotten */
}

/* One user with many jobs takes no place that another's needs, and waits for his own only. */
UNIT_WITH(user__stops_no_others, forget, NULL)
{
    enum { HE = 4000, SHE = 0, MANY = 3 * MINTLIMIT_RESERVATIONS };
    unsigned granted = 0;
    for (uint64_t number = 1; number <= MANY; number++)
        granted += mintlimit_take(&limit, number, HE, 1) == 0;
    assert_int_equal(granted, MINTLIMIT_OF_USER);
    assert_int_equal(mintlimit_take(&limit, MANY, HE, 401), MINTLIMIT_EVERY_MS - 400);
    assert_int_equal(mintlimit_take(&limit, MANY + 1, SHE, 1), 0);
    assert_int_equal(mintlimit_take(&limit, 1, HE, 1), 0); /* one that has a place */
    assert_int_equal(mintlimit_take(&limit, MANY, HE, 1 + MINTLIMIT_EVERY_MS), 0);
}

UNIT_RUN(NULL, NULL)
