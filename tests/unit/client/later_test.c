/* SPDX-License-Identifier: Apache-2.0 */
/* "Not now" and "no" are told apart, and who is put off waits. */

#include "client/transport/broker.h"
#include "tests/unit/unit.h"

static bool is_later(int code, int status, const char *word)
{
    struct mcast_error error = {.code = code, .status = status};
    snprintf(error.word, sizeof error.word, "%s", word);
    return mcast_later(&error, NULL);
}

UNIT(later__is_who_does_not_answer)
{
    assert_true(is_later(MCAST_UNREACHABLE, 0, "no-connection"));
    assert_true(is_later(MCAST_UNREACHABLE, 0, "broken"));
    assert_true(is_later(MCAST_UNREACHABLE, 0, "timeout"));
    assert_true(is_later(MCAST_UNCLEAR, 502, ""));
    assert_true(is_later(MCAST_UNCLEAR, 503, ""));
    assert_true(is_later(MCAST_UNCLEAR, 504, ""));
}

UNIT(later__is_who_can_serve_nobody)
{
    static const char *const words[] = {"busy",     "too-many-connections", "storage",
                                        "stopping", "not-leader",           "out-of-memory",
                                        "",         "a-word-of-tomorrow"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        assert_true(is_later(MCAST_REFUSED, 503, words[i]));
    assert_true(is_later(MCAST_REFUSED, 429, "too-many-cleanups"));
}

UNIT(later__is_no_word_about_the_request)
{
    assert_false(is_later(MCAST_OK, 0, ""));
    assert_false(is_later(MCAST_REFUSED, 503, "vnis-exhausted"));
    assert_false(is_later(MCAST_REFUSED, 503, "hwcoll-required"));
    assert_false(is_later(MCAST_REFUSED, 504, "pending"));
    assert_false(is_later(MCAST_REFUSED, 409, "conflict"));
    assert_false(is_later(MCAST_REFUSED, 401, "no-identity"));
    assert_false(is_later(MCAST_NOT_FOUND, 404, "not-found"));
    assert_false(is_later(MCAST_USAGE, 0, ""));
    assert_false(is_later(MCAST_NOMEM, 0, ""));
    assert_false(is_later(MCAST_STOPPED, 0, ""));
}

UNIT(later__is_nothing_that_somebody_must_mend)
{
    assert_false(is_later(MCAST_UNREACHABLE, 0, "tls"));
    assert_false(is_later(MCAST_UNREACHABLE, 0, "munge"));
    assert_false(is_later(MCAST_UNREACHABLE, 0, "denied"));
    assert_false(is_later(MCAST_UNCLEAR, 200, ""));
}

UNIT(later__tells_how_long_the_broker_wants_to_be_left_alone)
{
    struct mcast_error error = {
        .code = MCAST_REFUSED, .status = 503, .word = "storage", .retry_after = 5};
    unsigned after_ms = 1;
    assert_true(mcast_later(&error, &after_ms));
    assert_int_equal(after_ms, 5000);
    strcpy(error.word, "vnis-exhausted");
    assert_false(mcast_later(&error, &after_ms));
    assert_int_equal(after_ms, 0);
}

UNIT(later__pauses_grow_to_a_second)
{
    struct later later = {0};
    for (unsigned most = 50; most < 1000; most *= 2)
        assert_in_range(later_pause(&later, 0), most / 2, most);
    for (int i = 0; i < 10; i++)
        assert_in_range(later_pause(&later, 0), 500, 1000);
    assert_in_range(later_pause(&later, 5000), 5500, 6000);
    /* A proxy's hour is not heeded: nothing would be asked long after the broker is back. */
    assert_in_range(later_pause(&later, 3600000), 60500, 61000);
    later.last_ms = 0; /* it has answered */
    assert_in_range(later_pause(&later, 0), 25, 50);
}

UNIT_RUN(NULL, NULL)
