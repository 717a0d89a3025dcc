/* SPDX-License-Identifier: Apache-2.0 */
/* Which libmicrohttpd the broker runs with (B8). */
#include "broker/http/listen/httpworker.h"
#include "tests/unit/unit.h"

#include <microhttpd.h>

UNIT(lines__are_checked_since_1)
{
    assert_false(mhd_checks_lines("0.9.75"));
    assert_false(mhd_checks_lines("0.9.77"));
    assert_true(mhd_checks_lines("1.0.0"));
    assert_true(mhd_checks_lines("1.0.1"));
    assert_true(mhd_checks_lines("10.0"));
    assert_false(mhd_checks_lines("unknown"));
}

UNIT(version__tried_or_named)
{
    char line[128];
    assert_false(mhd_remark("0.9.75", line, sizeof line));
    assert_false(mhd_remark("1.0.1", line, sizeof line));
    assert_true(mhd_remark("1.0.10", line, sizeof line));
    assert_string_equal(line, "libmicrohttpd 1.0.10 was not tried with mcastd (0.9.75 and 1.0.1 "
                              "were): try it on a test system first");
    assert_true(mhd_remark("0.9.7", line, sizeof line));
}

/* The suite is run with this version: it counts as tried when it has passed. */
UNIT(version__of_this_run)
{
    char line[128];
    if (mhd_remark(MHD_get_version(), line, sizeof line))
        print_message("%s\n", line);
}

UNIT_RUN(NULL, NULL)
