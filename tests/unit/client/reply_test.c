/* SPDX-License-Identifier: Apache-2.0 */
/* Reading an answer of HTTP/1.1 (RFC 9112) as the Unix socket brings it: whatever the pieces. */

#include "client/transport/reply.h"
#include "tests/unit/unit.h"

#define JSON "Content-Type: application/json\r\n"

/* What is read, and by whom. */
struct reader {
    struct peer peer;
    struct request request;
    struct reply reply;
    char streamed[256];
};

static void begin(struct reader *reader)
{
    *reader = (struct reader){.request.peer = &reader->peer};
    reply_begin(&reader->reply, &reader->request);
}

/* Copies of exact size, so that the sanitizer sees any reading beyond them. */
static enum reply_state feed(struct reader *reader, const char *bytes, size_t length)
{
    char *copy = malloc(length);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    enum reply_state state = reply_feed(&reader->reply, copy, length);
    free(copy);
    return state;
}

static enum reply_state feed_all(struct reader *reader, const char *text, size_t first, size_t step)
{
    size_t length = strlen(text), take = first;
    enum reply_state state = REPLY_MORE;
    for (size_t at = 0; at < length && state == REPLY_MORE; at += take, take = step) {
        take = take == 0 ? step : take;
        take = length - at < take ? length - at : take;
        state = feed(reader, text + at, take);
    }
    return state;
}

struct expected {
    enum reply_state state; /* when all of it was read; REPLY_MORE: and the connection closed */
    int status;
    const char *type, *body;
    enum trouble_kind trouble;
};

/* Cut in two at every place, and into pieces of one, two and three bytes. */
static void reads(const char *text, const struct expected *expected)
{
    size_t length = strlen(text);
    for (size_t first = 0; first <= length; first++) {
        for (size_t step = first == 0 ? 1 : length; step <= (first == 0 ? 3 : length); step++) {
            struct reader reader;
            begin(&reader);
            enum reply_state state = feed_all(&reader, text, first, step);
            assert_int_equal(state, expected->state);
            if (state == REPLY_MORE)
                state = reply_end(&reader.reply, NULL);
            assert_int_equal(state, expected->trouble == TROUBLE_NONE ? REPLY_WHOLE : REPLY_OVER);
            assert_int_equal(reader.request.trouble.kind, expected->trouble);
            assert_true((reader.request.trouble.words[0] != '\0') == (state == REPLY_OVER));
            if (state == REPLY_WHOLE) {
                assert_int_equal(reader.request.answer.status, expected->status);
                assert_string_equal(reader.request.answer.type, expected->type);
                assert_string_equal(text_string(&reader.request.answer.body), expected->body);
            }
            text_release(&reader.request.answer.body);
        }
    }
}

static void whole(const char *text, int status, const char *type, const char *body)
{
    reads(text, &(struct expected){REPLY_WHOLE, status, type, body, TROUBLE_NONE});
}

static void garbled(const char *text)
{
    reads(text, &(struct expected){REPLY_OVER, 0, "", "", TROUBLE_GARBLED});
}

static void broken(const char *text)
{
    reads(text, &(struct expected){REPLY_MORE, 0, "", "", TROUBLE_BROKEN});
}

UNIT(reply__with_a_length)
{
    whole("HTTP/1.1 200 OK\r\n" JSON "Content-Length: 2\r\n\r\n{}", 200, "application/json", "{}");
    whole("HTTP/1.1 404 \r\ncontent-length:0\r\n\r\n", 404, "", "");
    whole("HTTP/1.1 503 Not now\r\nContent-Type: APPLICATION/problem+json; charset=utf-8\r\n"
          "Retry-After: 7\r\nContent-Length: 1\r\n\r\nx",
          503, "application/problem+json", "x");
}

UNIT(reply__in_chunks)
{
    whole("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" JSON "\r\n"
          "3\r\nabc\r\nA\r\n0123456789\r\n00\r\n\r\n",
          200, "application/json", "abc0123456789");
    broken("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    static const char *const none[] = {"xyz\r\n",     "\r\n",
                                       "-1\r\n",      " 3\r\n",
                                       "3;x=y\r\n",   "1000000000000000\r\n",
                                       "3\nabc",      "3\r\nabcd\r\n",
                                       "3\r\nabc\rX", "0\r\nContent-Type: text/trailer\r\n\r\n"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s",
                 none[i]);
        garbled(text);
    }
}

/* mcastd tells the length of everything it sends: what does not is not mcastd. */
UNIT(reply__without_a_length)
{
    garbled("HTTP/1.1 200 OK\r\n" JSON "\r\n");
    garbled("HTTP/1.1 200 OK\r\n" JSON "Connection: close\r\n\r\n");
    garbled("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n");
    garbled("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n");
}

/* RFC 9112, 6.3: these have no body, whatever their headers say. */
UNIT(reply__without_a_body)
{
    whole("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", 204, "", "");
    whole("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", 304, "", "");
}

/* RFC 9110, 15.2: a client passes over any number of 1xx, with what they say. */
UNIT(reply__after_interim_ones)
{
    whole("HTTP/1.1 100 Continue\r\nContent-Type: text/plain\r\nRetry-After: 5\r\n\r\n"
          "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
          200, "", "{}");
    broken("HTTP/1.1 100 Continue\r\n\r\n");
    garbled("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n");
}

UNIT(reply__broken_off)
{
    broken("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}");
    broken("HTTP/1.1 200 OK\r\nContent-Le");
    broken("HTT");
}

UNIT(reply__garbage)
{
    garbled("220 mail.example.gov ESMTP\r\n");
    garbled("HTTP/1.1 abc OK\r\n\r\n");
    garbled("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n");
    garbled("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab");
    garbled("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    garbled("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nab");
    garbled("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n");
    garbled("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n");
    garbled("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000\r\n\r\n");
    garbled("HTTP/1.1 200 OK\r\nNo colon\r\n\r\n");
    garbled("HTTP/1.1 200 OK\r\nX-Blank : y\r\n\r\n");
    garbled("HTTP/1.1 200 OK\r\nX-Folded: y\r\n z\r\n\r\n");
    garbled("HTTP/1.1 200 OK\r\n: y\r\n\r\n");
    garbled("HTTP/1.1 200 OK\r\nX-Bell: \a\r\n\r\n");
    garbled("HTTP/1.1 200 OK\nContent-Length: 0\n\n");
    garbled("HTTP/1.1 200 OK\r\nX-Bare: CR\rContent-Length: 0\r\n\r\n");
    garbled("HTTP/1.1 2000\r\n\r\n");
    garbled("HTTP/1.1 20\r\n\r\n");
    garbled("HTTP/1.1 099 OK\r\n\r\n");
    garbled("http/1.1 200 OK\r\n\r\n");
    garbled("\r\nHTTP/1.1 200 OK\r\n\r\n");
}

/* Nothing was read: the other side may never have seen the request. */
UNIT(reply__nothing_at_all)
{
    struct reader reader;
    begin(&reader);
    assert_false(reader.reply.begun);
    assert_int_equal(reply_end(&reader.reply, NULL), REPLY_OVER);
    assert_int_equal(reader.request.trouble.kind, TROUBLE_SILENT);
    begin(&reader);
    assert_int_equal(reply_end(&reader.reply, "Connection reset by peer"), REPLY_OVER);
    assert_int_equal(reader.request.trouble.kind, TROUBLE_BROKEN);
    assert_string_equal(reader.request.trouble.words, "Connection reset by peer");
}

static bool keeps(const char *text)
{
    struct reader reader;
    begin(&reader);
    if (feed(&reader, text, strlen(text)) == REPLY_MORE)
        (void)reply_end(&reader.reply, NULL);
    bool kept = reply_keeps(&reader.reply);
    text_release(&reader.request.answer.body);
    return kept;
}

UNIT(reply__connection_is_kept)
{
    assert_true(keeps("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"));
    assert_true(keeps("HTTP/1.1 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx"));
    assert_true(keeps("HTTP/1.1 204 OK\r\n\r\n"));
    assert_false(keeps("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"));
    assert_false(keeps("HTTP/1.1 200 OK\r\nConnection: x, close\r\nContent-Length: 0\r\n\r\n"));
    assert_false(keeps("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx"));
    assert_false(keeps("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n"));
}

/* The longest line is taken, and a type that is longer than those of mcastd is cut. */
UNIT(reply__long_headers)
{
    enum { NAME = sizeof "Content-Type: " - 1, LONGEST = REPLY_LINE_SIZE - 2 - NAME };
    char text[4096], value[REPLY_LINE_SIZE], type[64];
    for (int beyond = 0; beyond < 2; beyond++) {
        memset(value, 'a', sizeof value);
        value[LONGEST + beyond] = '\0';
        snprintf(text, sizeof text,
                 "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: 0\r\n\r\n", value);
        snprintf(type, sizeof type, "%.63s", value);
        if (beyond)
            garbled(text);
        else
            whole(text, 200, type, "");
    }
}

/* Headers without end are no answer: there is a limit, and memory does not grow until then. */
UNIT(reply__headers_without_end)
{
    static const char start[] = "HTTP/1.1 200 OK\r\n", line[] = "X-More: and more and more\r\n";
    struct reader reader;
    begin(&reader);
    enum reply_state reply = feed(&reader, start, sizeof start - 1);
    for (int i = 0; i < 10000 && reply == REPLY_MORE; i++)
        reply = feed(&reader, line, sizeof line - 1);
    assert_int_equal(reply, REPLY_OVER);
    assert_int_equal(reader.request.trouble.kind, TROUBLE_GARBLED);
}

static int collect(const char *bytes, size_t length, void *data)
{
    struct reader *reader = data;
    size_t used = strlen(reader->streamed);
    assert_true(used + length < sizeof reader->streamed);
    memcpy(reader->streamed + used, bytes, length);
    return strstr(reader->streamed, "stop") ? 77 : 0;
}

/* Each piece of a stream is handed on as it comes; who has heard enough ends it. */
UNIT(reply__stream)
{
    struct reader reader;
    begin(&reader);
    reader.request.call.accept = "text/event-stream";
    reader.request.call.each = collect;
    reader.request.call.data = &reader;
    assert_int_equal(feed_all(&reader,
                              "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                              "Transfer-Encoding: chunked\r\n\r\n5\r\n:abc\n\r\n",
                              0, 1),
                     REPLY_MORE);
    assert_string_equal(reader.streamed, ":abc\n");
    assert_int_equal(feed_all(&reader, "4\r\nstop\r\n", 0, 100), REPLY_OVER);
    assert_int_equal(request_conclude(&reader.request), 77);
}

/* What is refused, or of another type, is an answer like any other. */
UNIT(reply__stream_that_is_none)
{
    struct reader reader;
    begin(&reader);
    reader.request.call.accept = "text/event-stream";
    reader.request.call.each = collect;
    reader.request.call.data = &reader;
    assert_int_equal(
        feed_all(&reader, "HTTP/1.1 403 No\r\n" JSON "Content-Length: 2\r\n\r\n{}", 0, 1),
        REPLY_WHOLE);
    assert_string_equal(reader.streamed, "");
    assert_string_equal(text_string(&reader.request.answer.body), "{}");
    text_release(&reader.request.answer.body);
}

UNIT(reply__what_it_says_of_time)
{
    struct reader reader;
    begin(&reader);
    assert_int_equal(feed_all(&reader,
                              "HTTP/1.1 503 No\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
                              "Retry-After: 4000\r\nContent-Length: 0\r\n\r\n",
                              0, 1),
                     REPLY_WHOLE);
    assert_true(reader.peer.clock_known && reader.peer.clock_ahead_ms < 0);
    assert_int_equal(reader.request.answer.retry_after, 3600);
}

UNIT_RUN(NULL, NULL)
