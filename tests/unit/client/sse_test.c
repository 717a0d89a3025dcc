/* SPDX-License-Identifier: Apache-2.0 */
#include "client/calls/events.h"
#include "client/calls/field.h"
#include "tests/unit/unit.h"

enum { LOG_SIZE = 1024 };

/* Writes down what comes: "name|data;" */
static int note(const char *name, const char *lines, void *data)
{
    char *log = data;
    size_t used = strlen(log);
    snprintf(log + used, LOG_SIZE - used, "%s|%s;", name, lines);
    return 0;
}

static void reads(const char *stream, const char *expected)
{
    size_t length = strlen(stream);
    for (size_t first = 0; first <= length; first++) {
        for (size_t step = 1; step <= length - first + 1; step++) {
            struct sse sse = {0};
            char log[LOG_SIZE] = "";
            assert_int_equal(sse_feed(&sse, stream, first, note, log, NULL), 0);
            for (size_t at = first; at < length; at += step) {
                size_t piece = length - at < step ? length - at : step;
                /* A copy of exact size, so that the sanitizer sees any reading beyond it. */
                char *copy = malloc(piece);
                assert_non_null(copy);
                memcpy(copy, stream + at, piece);
                assert_int_equal(sse_feed(&sse, copy, piece, note, log, NULL), 0);
                free(copy);
            }
            sse_release(&sse);
            assert_string_equal(log, expected);
        }
    }
}

UNIT(sse__events_wherever_the_pieces_end)
{
    reads("id: 1\nevent: reserved\ndata: {\"seq\":1}\n\nid: 2\nevent: lost\ndata: x\n\n",
          "reserved|{\"seq\":1};lost|x;");
    /* Comments are no events; without data nothing happens. */
    reads(": keep-alive\n\n:\n\n: x\ndata: y\n\n", "message|y;");
    reads("data: a\ndata:  c\n\n", "message| c;");
    reads("event: lonely\nid: 7\n\ndata: x\n\n", "message|x;");
    reads("data:\n\n", "message|;");
    /* What the end cuts off never shows; unknown fields are skipped. */
    reads("data: whole\n\ndata: half\n", "message|whole;");
    reads("data: whole\n\ndata: hal", "message|whole;");
    reads("datum: x\nDATA: y\n data: z\ndata: a\nid2: q\n\n", "message|a;");
}

UNIT(sse__has_limits)
{
    struct sse line = {0}, data = {0};
    char log[LOG_SIZE] = "";
    static char block[65536];
    int rc = 0;
    memset(block, 'x', sizeof block);
    size_t fed = 0;
    for (; rc == 0 && fed < 4 * (size_t)SSE_EVENT_MAX; fed += sizeof block)
        rc = sse_feed(&line, block, sizeof block, note, log, NULL);
    assert_int_equal(rc, MCAST_UNCLEAR);
    assert_true(fed <= (size_t)SSE_EVENT_MAX + 2 * sizeof block);
    rc = 0;
    snprintf(block, sizeof block, "data: ");
    block[6] = 'x';
    block[sizeof block - 1] = '\n';
    for (fed = 0; rc == 0 && fed < 4 * (size_t)SSE_EVENT_MAX; fed += sizeof block)
        rc = sse_feed(&data, block, sizeof block, note, log, NULL);
    assert_int_equal(rc, MCAST_UNCLEAR);
    assert_string_equal(log, "");
    sse_release(&line);
    sse_release(&data);
}

static int refuse(const char *name, const char *lines, void *data)
{
    ++*(int *)data;
    return 42;
}

UNIT(sse__stops_when_told)
{
    struct sse sse = {0};
    int count = 0;
    static const char two[] = "data: a\n\ndata: b\n\n";
    assert_int_equal(sse_feed(&sse, two, sizeof two - 1, refuse, &count, NULL), 42);
    assert_int_equal(count, 1);
    sse_release(&sse);
}

/* ---- one event ---- */

UNIT(event__fatal_one)
{
    struct mcast_event *event = NULL;
    assert_int_equal(
        event_decode(&event, "lost",
                     "{\"seq\":7,\"time\":\"2026-11-21T08:00:00.123Z\",\"event\":\"lost\","
                     "\"fatal\":true,\"cluster\":\"c\",\"job\":\"j\",\"number\":3,"
                     "\"uid\":9,\"state\":\"active\",\"node_count\":64,\"vnis\":[1024,65535],"
                     "\"addresses\":0,\"detail\":\"gone after a restart\"}",
                     NULL),
        0);
    assert_int_equal(event->seq, 7);
    assert_string_equal(event->event, "lost");
    assert_true(event->fatal);
    assert_string_equal(event->job, "j");
    assert_int_equal(event->number, 3);
    assert_int_equal(event->uid, 9);
    assert_string_equal(event->state, "active");
    assert_int_equal(event->node_count, 64);
    assert_int_equal(event->vni_count, 2);
    assert_int_equal(event->vnis[1], 65535);
    assert_int_equal(event->addresses, 0);
    assert_string_equal(event->detail, "gone after a restart");
    assert_null(strchr(event->json, '\n'));
    document_free(event);
}

UNIT(event__about_no_job)
{
    struct mcast_event *event = NULL;
    assert_int_equal(event_decode(&event, "link-up",
                                  "{\"seq\":1,\"event\":\"link-up\",\"cluster\":null,\"number\":0}",
                                  NULL),
                     0);
    assert_null(event->cluster);
    assert_null(event->job);
    assert_false(event->fatal);
    assert_null(event->state); /* of an older broker */
    assert_int_equal(event->vni_count, 0);
    assert_int_equal(event->uid, UINT32_MAX); /* not root's */
    document_free(event);
}

UNIT(event__gap)
{
    struct mcast_event *event = NULL;
    assert_int_equal(event_decode(&event, "gap", "{\"from\":1,\"to\":500}", NULL), 0);
    assert_string_equal(event->event, "gap");
    assert_int_equal(event->seq, 0);
    assert_int_equal(event->gap_from, 1);
    assert_int_equal(event->gap_to, 500);
    document_free(event);
}

UNIT(event__odd_ones_are_unclear)
{
    static const char *const odd[] = {"",
                                      "[]",
                                      "{}",
                                      "{\"seq\":\"1\",\"event\":\"x\"}",
                                      "{\"seq\":1}",
                                      "{\"seq\":1,\"event\":\"x\",\"fatal\":1}",
                                      "{\"seq\":-1,\"event\":\"x\"}",
                                      "{\"seq\":1,\"event\":\"x\",\"vnis\":[1,2,3,4,5]}",
                                      "{\"seq\":1,\"event\":\"x\",\"vnis\":[65536]}",
                                      "{\"seq\":1,\"event\":\"x\",\"addresses\":-1}"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        struct mcast_event *event = NULL;
        struct mcast_error error;
        assert_int_equal(event_decode(&event, "x", odd[i], &error), MCAST_UNCLEAR);
        assert_null(event);
    }
    struct mcast_event *event = NULL;
    assert_int_equal(event_decode(&event, "gap", "{\"from\":1}", NULL), MCAST_UNCLEAR);
}

UNIT_RUN(NULL, NULL)
