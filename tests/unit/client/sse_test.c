/* SPDX-License-Identifier: Apache-2.0 */
#include "client/calls/sse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LOG_SIZE = 1024 };

/* Writes down what comes: "name|data;" */
static int note(const struct sse_event *event, void *data)
{
    char *log = data;
    size_t used = strlen(log);
    snprintf(log + used, LOG_SIZE - used, "%s|%s;", event->name, event->data);
    return 0;
}

static void reads(const char *stream, const char *expected)
{
    size_t length = strlen(stream);
    for (size_t first = 0; first <= length; first++) {
        for (size_t step = 1; step <= length - first + 1; step++) {
            struct sse sse = {0};
            char log[LOG_SIZE] = "";
            assert_int_equal(sse_feed(&sse, stream, first, note, log), 0);
            for (size_t at = first; at < length; at += step) {
                size_t piece = length - at < step ? length - at : step;
                /* A copy of exact size, so that the sanitizer sees any reading beyond it. */
                char *copy = malloc(piece);
                assert_non_null(copy);
                memcpy(copy, stream + at, piece);
                assert_int_equal(sse_feed(&sse, copy, piece, note, log), 0);
                free(copy);
            }
            sse_release(&sse);
            assert_string_equal(log, expected);
        }
    }
}

static void sse__events_wherever_the_pieces_end(void **state)
{
    (void)state;
    reads("id: 1\nevent: reserved\ndata: {\"seq\":1}\n\nid: 2\nevent: lost\ndata: x\n\n",
          "reserved|{\"seq\":1};lost|x;");
}

static void sse__comments_are_no_events(void **state)
{
    (void)state;
    reads(": keep-alive\n\n:\n\n: x\ndata: y\n\n", "message|y;");
}

static void sse__data_lines_are_joined(void **state)
{
    (void)state;
    reads("data: a\ndata:b\ndata\ndata:  c\n\n", "message|a\nb\n\n c;");
}

static void sse__without_data_nothing_happens(void **state)
{
    (void)state;
    reads("event: lonely\nid: 7\n\ndata: x\n\n", "message|x;");
}

static void sse__empty_data_is_an_event(void **state)
{
    (void)state;
    reads("data\n\n", "message|;");
}

static void sse__what_the_end_cuts_off_never_shows(void **state)
{
    (void)state;
    reads("data: whole\n\ndata: half\n", "message|whole;");
    reads("data: whole\n\ndata: hal", "message|whole;");
}

static void sse__unknown_fields_are_skipped(void **state)
{
    (void)state;
    reads("datum: x\nDATA: y\n data: z\ndata: a\nid2: q\n\n", "message|a;");
}

static void sse__has_limits(void **state)
{
    (void)state;
    struct sse line = {0}, data = {0};
    char log[LOG_SIZE] = "";
    static char block[65536];
    int rc = 0;
    memset(block, 'x', sizeof(block));
    size_t fed = 0;
    for (; rc == 0 && fed < 4 * (size_t)SSE_LINE_MAX; fed += sizeof(block))
        rc = sse_feed(&line, block, sizeof(block), note, log);
    assert_int_equal(rc, SSE_TOO_LONG);
    assert_true(fed <= (size_t)SSE_LINE_MAX + 2 * sizeof(block));
    rc = 0;
    snprintf(block, sizeof(block), "data: ");
    block[6] = 'x';
    block[sizeof(block) - 1] = '\n';
    for (fed = 0; rc == 0 && fed < 4 * (size_t)SSE_DATA_MAX; fed += sizeof(block))
        rc = sse_feed(&data, block, sizeof(block), note, log);
    assert_int_equal(rc, SSE_TOO_LONG);
    assert_string_equal(log, "");
    sse_release(&line);
    sse_release(&data);
}

static int refuse(const struct sse_event *event, void *data)
{
    (void)event;
    ++*(int *)data;
    return 42;
}

static void sse__stops_when_told(void **state)
{
    (void)state;
    struct sse sse = {0};
    int count = 0;
    static const char two[] = "data: a\n\ndata: b\n\n";
    assert_int_equal(sse_feed(&sse, two, sizeof(two) - 1, refuse, &count), 42);
    assert_int_equal(count, 1);
    sse_release(&sse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sse__events_wherever_the_pieces_end),
        cmocka_unit_test(sse__comments_are_no_events),
        cmocka_unit_test(sse__data_lines_are_joined),
        cmocka_unit_test(sse__without_data_nothing_happens),
        cmocka_unit_test(sse__empty_data_is_an_event),
        cmocka_unit_test(sse__what_the_end_cuts_off_never_shows),
        cmocka_unit_test(sse__unknown_fields_are_skipped),
        cmocka_unit_test(sse__has_limits),
        cmocka_unit_test(sse__stops_when_told),
    };
    return cmocka_run_group_tests_name("client_sse", tests, NULL, NULL);
}
