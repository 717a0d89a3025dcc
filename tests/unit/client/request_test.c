/* SPDX-License-Identifier: Apache-2.0 */
/* The time in a Date header (RFC 9110, 5.6.7). */

#include "client/transport/request.h"
#include "tests/unit/unit.h"

static void is(const char *text, int64_t expected)
{
    int64_t seconds = -1;
    assert_true(request_read_date(text, &seconds));
    assert_int_equal(seconds, expected);
}

UNIT(request__date_read)
{
    is("Sun, 06 Nov 1994 08:49:37 GMT", 784111777);
    is("Thu, 01 Jan 1970 00:00:00 GMT", 0);
    is("Thu, 29 Feb 2024 23:59:59 GMT", 1709251199);
    is("Fri, 01 Mar 2024 00:00:00 GMT", 1709251200);
    is("Wed, 31 Dec 2025 23:59:59 GMT", 1767225599);
    is("Tue, 19 Jan 2038 03:14:08 GMT\r\n", 2147483648);
}

UNIT(request__date_refused)
{
    static const char *const wrong[] = {
        "",
        "Sun",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 1994 08:49:37 GM",
        "Sun, 06 Now 1994 08:49:37 GMT",
        "Sun, 06 ovD 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, -6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov -994 08:49:37 GMT",
        "Sun, 06 Nov 1994 -8:49:37 GMT",
        "Sun, +6 Nov 1994 08:49:37 GMT",
        "Sun,  6 Nov 1994 08:49:37 GMT",
        "Sun. 06 Nov 1994 08:49:37 GMT",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int64_t seconds = -1;
        assert_false(request_read_date(wrong[i], &seconds));
        assert_int_equal(seconds, -1);
    }
}

UNIT_RUN(NULL, NULL)
