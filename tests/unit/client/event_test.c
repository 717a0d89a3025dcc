/* SPDX-License-Identifier: Apache-2.0 */
#include "client/calls/sse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static int decode(struct event *event, const char *name, const char *data,
                  struct mcast_error *error)
{
    struct sse_event sent = {.name = name, .data = data};
    return event_decode(event, &sent, error);
}

static void event__fatal_one(void **state)
{
    (void)state;
    struct event event;
    assert_int_equal(decode(&event, "lost",
                            "{\"seq\":7,\"time\":\"2026-11-21T08:00:00.123Z\",\"event\":\"lost\",\n"
                            " \"fatal\":true,\"cluster\":\"c\",\"job\":\"j\",\"number\":3,"
                            "\"uid\":9,\"detail\":\"gone after a restart\"}",
                            NULL),
                     0);
    assert_int_equal(event.seen.seq, 7);
    assert_string_equal(event.seen.event, "lost");
    assert_true(event.seen.fatal);
    assert_string_equal(event.seen.job, "j");
    assert_int_equal(event.seen.number, 3);
    assert_int_equal(event.seen.uid, 9);
    assert_string_equal(event.seen.detail, "gone after a restart");
    assert_null(strchr(event.seen.json, '\n'));
    event_release(&event);
}

static void event__about_no_job(void **state)
{
    (void)state;
    struct event event;
    assert_int_equal(decode(&event, "link-up",
                            "{\"seq\":1,\"event\":\"link-up\",\"cluster\":null,\"number\":0}",
                            NULL),
                     0);
    assert_null(event.seen.cluster);
    assert_null(event.seen.job);
    assert_false(event.seen.fatal);
    event_release(&event);
}

static void event__gap(void **state)
{
    (void)state;
    struct event event;
    assert_int_equal(decode(&event, "gap", "{\"from\":1,\"to\":500}", NULL), 0);
    assert_string_equal(event.seen.event, "gap");
    assert_int_equal(event.seen.seq, 0);
    assert_int_equal(event.seen.gap_from, 1);
    assert_int_equal(event.seen.gap_to, 500);
    event_release(&event);
}

static void event__odd_ones_are_unclear(void **state)
{
    (void)state;
    static const char *const odd[] = {"",
                                      "[]",
                                      "{}",
                                      "{\"seq\":\"1\",\"event\":\"x\"}",
                                      "{\"seq\":1}",
                                      "{\"seq\":1,\"event\":\"x\",\"fatal\":1}",
                                      "{\"seq\":-1,\"event\":\"x\"}"};
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        struct event event;
        struct mcast_error error;
        assert_int_equal(decode(&event, "x", odd[i], &error), MCAST_UNCLEAR);
    }
    struct event event;
    assert_int_equal(decode(&event, "gap", "{\"from\":1}", NULL), MCAST_UNCLEAR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event__fatal_one),
        cmocka_unit_test(event__about_no_job),
        cmocka_unit_test(event__gap),
        cmocka_unit_test(event__odd_ones_are_unclear),
    };
    return cmocka_run_group_tests_name("client_event", tests, NULL, NULL);
}
