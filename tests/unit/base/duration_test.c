/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "base/duration.h"

#include <stdbool.h>

UNIT(duration__has_a_unit_and_a_limit)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: not a duration */
    } cases[] = {
        {"0s", 0},        {"500ms", 500},  {"2s", 2000},
        {"1m", 60000},    {"1h", 3600000}, {"24h", DURATION_DAY_MS},
        {"00001s", 1000}, {"25h", -1},     {"86400000ms", DURATION_DAY_MS},
        {"1441m", -1},    {"", -1},        {"86400001ms", -1},
        {"s", -1},        {"0", -1},       {"5", -1},
        {"-1s", -1},      {"+1s", -1},     {"1.5s", -1},
        {"2S", -1},       {" 2s", -1},     {"2s ", -1},
        {"2 s", -1},      {"2sx", -1},     {"1h1m", -1},
        {"0x2s", -1},     {"1e3ms", -1},   {"99999999999999999999s", -1},
        {"0d", -1},       {"1d", -1},      {"18446744073709551617ms", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t ms = duration_parse(cases[i].text, 0, DURATION_DAY_MS);
        if (ms != cases[i].ms)
            fail_msg("'%s': %lld ms", cases[i].text, (long long)ms);
    }
}

UNIT(duration__has_more_forms_where_they_are_allowed)
{
    const int64_t most = 7 * DURATION_DAY_MS;
    assert_int_equal(duration_parse("7d", DURATION_DAYS, most), most);
    assert_int_equal(duration_parse("8d", DURATION_DAYS, most), -1);
    assert_int_equal(duration_parse("0", DURATION_DAYS, most), -1);
    assert_int_equal(duration_parse("0", DURATION_BARE_ZERO, most), 0);
    assert_int_equal(duration_parse("10", DURATION_BARE_ZERO, most), -1);
    assert_int_equal(duration_parse("10", DURATION_BARE_SECONDS, most), 10000);
    assert_int_equal(duration_parse("7d", DURATION_BARE_ZERO, most), -1);
    assert_int_equal(duration_parse("2s", DURATION_DAYS | DURATION_BARE_ZERO, 1999), -1);
}

UNIT(duration__is_written_in_its_largest_unit)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {{0, "0"},          {1, "1ms"},        {1500, "1500ms"},
                 {60000, "1m"},     {61000, "61s"},    {7200000, "2h"},
                 {604800000, "7d"}, {90000000, "25h"}, {3650 * DURATION_DAY_MS, "3650d"}};
    const unsigned int forms = DURATION_DAYS | DURATION_BARE_ZERO;
    char text[32];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        duration_format(text, sizeof text, cases[i].ms);
        assert_string_equal(text, cases[i].text);
        assert_int_equal(duration_parse(text, forms, cases[i].ms), cases[i].ms);
    }
}

UNIT_RUN(NULL, NULL)
