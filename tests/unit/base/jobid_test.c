/* SPDX-License-Identifier: Apache-2.0 */
/* One job arrives as ƒ…, f… or decimal, and is one job. */

#include "tests/unit/unit.h"

#include "base/jobid.h"

UNIT(jobid__is_plain_in_the_end)
{
    static const struct {
        const char *given, *plain;
    } cases[] = {{"\xc6\x92"
                  "2Rs8",
                  "f2Rs8"},
                 {"f2Rs8", "f2Rs8"},
                 {"4711", "4711"},
                 {"", ""},
                 {"\xc6\x92", "f"},
                 {"\xc6", "\xc6"},
                 {"a\xc6\x92", "a\xc6\x92"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[16];
        assert_true(jobid_plain(cases[i].given, out, sizeof out));
        assert_string_equal(out, cases[i].plain);
        strcpy(out, cases[i].given); /* in its own place */
        assert_true(jobid_plain(out, out, strlen(out) + 1));
        assert_string_equal(out, cases[i].plain);
    }
}

UNIT(jobid__is_plain_in_each_part_of_a_path)
{
    char out[12];
    assert_true(jobid_plain("/\xc6\x92"
                            "A/\xc6\x92"
                            "B/3",
                            out, sizeof out));
    assert_string_equal(out, "/fA/fB/3");
}

UNIT(jobid__that_does_not_fit_is_refused)
{
    char out[6];
    assert_false(jobid_plain("f23456", out, sizeof out));
    assert_false(jobid_plain("\xc6\x92"
                             "23456",
                             out, sizeof out));
    assert_true(jobid_plain("\xc6\x92"
                            "2345",
                            out, sizeof out));
    assert_string_equal(out, "f2345");
    assert_false(jobid_plain("", out, 0));
}

UNIT_RUN(NULL, NULL)
