/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/badinput/peer.h"
#include "tests/system/badinput/run.h"
#include "tests/unit/unit.h"

/* Bad requests among good ones, all sent at once: each gets its own answer, in its place; after one
 * that ends the connection nothing is answered, nor done. */

#define GOOD(name) "GET /healthz?" name " HTTP/1.1\r\nHost: x\r\n\r\n"
#define PUT(headers, body) "PUT " JOB "f1 HTTP/1.1\r\nHost: x\r\n" headers "\r\n" body
#define DOOM "DELETE " JOB "there HTTP/1.1\r\nHost: x\r\n\r\n"

/* What one request of a pipeline is answered with. */
struct reply {
    int status;               /* 0: there are no more */
    const char *code, *field; /* code NULL: in libmicrohttpd's own words */
};

enum { REPLIES = 8 };

struct pipeline {
    const char *what, *bytes;
    struct reply replies[REPLIES];
    bool ends; /* the connection, with the last of them */
};

/* clang-format off */
static const struct pipeline pipelines[] = {
    {"good ones",
     GOOD("a") GOOD("b") GOOD("c"),
     {{422, "unknown-parameter", "a"}, {422, "unknown-parameter", "b"},
      {422, "unknown-parameter", "c"}}, false},
    {"bad ones between good ones",
     GOOD("a") PUT("Content-Length: 2\r\n", "[]") GOOD("b")
     PUT("Content-Length: 1\r\nContent-Type: text/plain\r\n", "x") GOOD("c")
     "BREW /healthz HTTP/1.1\r\nHost: x\r\n\r\n" GOOD("d"),
     {{422, "unknown-parameter", "a"}, {400, "bad-json", NULL}, {422, "unknown-parameter", "b"},
      {415, "not-json", NULL}, {422, "unknown-parameter", "c"}, {405, "method-not-allowed", NULL},
      {422, "unknown-parameter", "d"}}, false},
    {"bodies that nobody wants, with a request in each",
     "GET /healthz?a HTTP/1.1\r\nHost: x\r\nContent-Length: 58\r\n\r\n" DOOM
     "PUT /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 58\r\n\r\n" DOOM GOOD("b"),
     {{422, "unknown-parameter", "a"}, {404, "no-such-path", NULL},
      {422, "unknown-parameter", "b"}}, false},
    {"two lengths, and a release behind them",
     GOOD("a") PUT("Content-Length: 2\r\nContent-Length: 2\r\n", "{}") DOOM,
     {{422, "unknown-parameter", "a"}, {400, "bad-request", "Content-Length"}}, true},
    {"length and chunks, and a release behind them",
     GOOD("a") PUT("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n") DOOM,
     {{422, "unknown-parameter", "a"}, {400, "bad-request", "Content-Length"}}, true},
    {"no Host, and a release behind it",
     GOOD("a") "GET /healthz HTTP/1.1\r\n\r\n" DOOM,
     {{422, "unknown-parameter", "a"}, {400, "bad-request", "Host"}}, true},
    {"chunks, and a release behind them",
     GOOD("a") PUT("Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n") DOOM,
     {{422, "unknown-parameter", "a"}, {422, "missing-field", "uid"}}, true},
    {"bad chunks, and a release behind them",
     GOOD("a") PUT("Transfer-Encoding: chunked\r\n", "x\r\n{}\r\n0\r\n\r\n") DOOM,
     {{422, "unknown-parameter", "a"}, {400, NULL, NULL}}, true},
    {"too long a body, and a release behind it",
     GOOD("a") PUT("Content-Length: 1048577\r\n", "") DOOM,
     {{422, "unknown-parameter", "a"}, {413, "too-large", NULL}}, true},
    {"no HTTP, and a release behind it",
     GOOD("a") "GET /healthz ICAP/1.0\r\nHost: x\r\n\r\n" DOOM,
     {{422, "unknown-parameter", "a"}, {400, NULL, NULL}}, true},
    {"a last one that says so, and a release behind it",
     GOOD("a") "GET /healthz?b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" DOOM,
     {{422, "unknown-parameter", "a"}, {422, "unknown-parameter", "b"}}, true},
};
/* clang-format on */

static int open_run(void **state)
{
    *state = run_open(MCASTD);
    return 0;
}

static int close_run(void **state)
{
    run_close(*state);
    return 0;
}

/* Since 1.0, libmicrohttpd itself refuses most of what is no HTTP. */
static bool has_own_words(const struct reply *reply)
{
    return reply->code && !(run_since_1() && strcmp(reply->code, "bad-request") == 0);
}

static void expect(struct peer *peer, const struct reply *reply)
{
    struct answer answer;
    assert_true(peer_answer(peer, false, &answer));
    if (has_own_words(reply)) {
        site_expect_problem(&answer, reply->status, reply->code, reply->field);
        return;
    }
    assert_int_equal(answer.status, reply->status);
    answer_release(&answer);
}

static void pipeline__is_answered_in_its_order(void **state)
{
    struct run *run = *state;
    for (size_t i = 0; i < sizeof pipelines / sizeof pipelines[0]; i++) {
        const struct pipeline *pipeline = &pipelines[i];
        static const struct reply next = {422, "unknown-parameter", "next"};
        struct peer *peer = peer_open(site_socket(run_site(run)), 0);
        print_message("%s\n", pipeline->what);
        assert_true(peer_send(peer, pipeline->bytes, strlen(pipeline->bytes)));
        for (const struct reply *reply = pipeline->replies; reply->status; reply++)
            expect(peer, reply);
        if (pipeline->ends) {
            assert_true(peer_read_out(peer));
            assert_string_equal(peer_rest(peer), "");
        } else {
            assert_true(peer_send(peer, GOOD("next"), strlen(GOOD("next"))));
            expect(peer, &next);
        }
        peer_close(peer);
        run_assert_unharmed(run);
    }
}

UNIT_GROUP(open_run, close_run, cmocka_unit_test(pipeline__is_answered_in_its_order))
