/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "fmapi/login/oauth.h"

static const int64_t second = 1000, minute = 60000, hour = 3600000, day = 24 * INT64_C(3600000);

static void lifetime_of_seconds__is_in_milliseconds(void **state)
{
    (void)state;
    assert_int_equal(lifetime_of_seconds(5), 5 * second);
    assert_int_equal(lifetime_of_seconds(299.5), 299500);
    assert_int_equal(lifetime_of_seconds(31536000), 365 * day);
}

static void lifetime_of_seconds__is_unknown_unless_positive(void **state)
{
    (void)state;
    static const double odd[] = {0, -0.0, -1, -3600, -1e300, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        assert_int_equal(lifetime_of_seconds(odd[i]), LIFETIME_UNKNOWN);
}

static void lifetime_of_seconds__has_bounds(void **state)
{
    (void)state;
    static const double huge[] = {9.3e15, 9.3e18, 1e300, INFINITY};
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++)
        assert_int_equal(lifetime_of_seconds(huge[i]), LIFETIME_MAX_MS);
    assert_int_equal(lifetime_of_seconds(1e-300), LIFETIME_MIN_MS);
    assert_int_equal(lifetime_of_seconds(0.999), LIFETIME_MIN_MS);
    /* Nanoseconds of it, on top of a machine's age, fit into 64 bits. */
    assert_true(LIFETIME_MAX_MS < INT64_MAX / 1000000 / 4);
}

/* F13: 5 s to a year. */
static void lifetime_renew_ms__is_well_before_the_end(void **state)
{
    (void)state;
    assert_int_equal(lifetime_renew_ms(LIFETIME_MIN_MS), 750);
    assert_int_equal(lifetime_renew_ms(5 * second), 3750);
    assert_int_equal(lifetime_renew_ms(5 * minute), 225 * second);
    assert_int_equal(lifetime_renew_ms(hour), 45 * minute);
    assert_int_equal(lifetime_renew_ms(4 * hour), 3 * hour);
    assert_int_equal(lifetime_renew_ms(day), 23 * hour);
    assert_int_equal(lifetime_renew_ms(365 * day), 365 * day - hour);
    assert_int_equal(lifetime_renew_ms(LIFETIME_MAX_MS), LIFETIME_MAX_MS - hour);
}

/* From the first failure on until the end there is more than one try, and not too many. */
static void lifetime_retry_ms__fits_what_is_left(void **state)
{
    (void)state;
    static const int64_t lives[] = {5000, 300000, 3600000, INT64_C(31536000000)};
    for (size_t i = 0; i < sizeof lives / sizeof lives[0]; i++) {
        int64_t left = lives[i] - lifetime_renew_ms(lives[i]);
        unsigned tries = 0;
        for (int64_t pause; (pause = lifetime_retry_ms(left)) >= 0; tries++) {
            assert_in_range(pause, 250, minute);
            left -= pause;
        }
        assert_in_range(tries, 3, 100);
    }
    assert_int_equal(lifetime_retry_ms(0), -1);
    assert_int_equal(lifetime_retry_ms(-5), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lifetime_of_seconds__is_in_milliseconds),
        cmocka_unit_test(lifetime_of_seconds__is_unknown_unless_positive),
        cmocka_unit_test(lifetime_of_seconds__has_bounds),
        cmocka_unit_test(lifetime_renew_ms__is_well_before_the_end),
        cmocka_unit_test(lifetime_retry_ms__fits_what_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
