/* SPDX-License-Identifier: Apache-2.0 */
/* Floods in the log: what happens once is never left out, what is left out is counted.
 */

#include "tests/unit/unit.h"

#include "broker/log/loglimit.h"

static struct loglimit limit;
static char heard[512];
static const char one, other;

static int empty(void **state)
{
    memset(&limit, 0, sizeof limit);
    heard[0] = '\0';
    return 0;
}

static void tell(void *arg, uint32_t left_out, const char *sample)
{
    size_t length = strlen(heard);
    (void)snprintf(heard + length, sizeof heard - length, "%u of %s; ", left_out, sample);
}

/* How many of n lines at once may be written. */
static unsigned taken(const void *kind, unsigned n, int64_t now_ms)
{
    unsigned count = 0;
    for (unsigned i = 0; i < n; i++)
        count += loglimit_take(&limit, kind, now_ms, "a line");
    return count;
}

#define LIMIT_TEST(name) UNIT_WITH(name, empty, NULL)

LIMIT_TEST(burst__is_written_whole)
{
    assert_int_equal(taken(&one, LOGLIMIT_BURST, 1000), LOGLIMIT_BURST);
    assert_int_equal(taken(&one, 50, 1000), 0);
}

LIMIT_TEST(rate__is_what_a_flood_gets)
{
    (void)taken(&one, LOGLIMIT_BURST, 1000);
    unsigned count = 0;
    for (int64_t ms = 1000; ms < 11000; ms += 10) /* 1000 lines in ten seconds */
        count += taken(&one, 1, ms);
    assert_in_range(count, 10 * LOGLIMIT_RATE - 1, 10 * LOGLIMIT_RATE + 1);
}

LIMIT_TEST(kinds__do_not_share)
{
    (void)taken(&one, 10000, 1000);
    assert_int_equal(taken(&other, 1, 1000), 1);
}

LIMIT_TEST(left_out__is_told_once_with_a_sample)
{
    (void)taken(&one, LOGLIMIT_BURST + 7, 1000);
    loglimit_settle(&limit, 1000, tell, NULL); /* no room yet: the flood goes on */
    assert_string_equal(heard, "");
    loglimit_settle(&limit, 1200, tell, NULL);
    assert_string_equal(heard, "7 of a line; ");
    loglimit_settle(&limit, 2000, tell, NULL);
    assert_string_equal(heard, "7 of a line; ");
}

LIMIT_TEST(quiet__fills_the_bucket_again)
{
    (void)taken(&one, LOGLIMIT_BURST + 1, 1000);
    assert_int_equal(taken(&one, LOGLIMIT_BURST, 1000 + 1000 * LOGLIMIT_BURST / LOGLIMIT_RATE),
                     LOGLIMIT_BURST);
    /* a clock that stands or runs back gives nothing */
    assert_int_equal(taken(&one, 1, 1000), 0);
}

LIMIT_TEST(more_kinds_than_places__are_written)
{
    static const char addresses[4 * LOGLIMIT_KINDS];
    for (size_t i = 0; i < sizeof addresses; i++)
        assert_true(loglimit_take(&limit, &addresses[i], 1000, "once"));
}

UNIT_RUN(NULL, NULL)
