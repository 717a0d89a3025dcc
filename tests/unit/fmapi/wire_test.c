/* SPDX-License-Identifier: Apache-2.0 */
/* One call without a loop: with what fmapi_wire has, which links neither libuv nor a login. */

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fmapi/wire/decode.h"
#include "fmapi/wire/exchange.h"
#include "fmapi/wire/jobsteps.h"
#include "tests/unit/unit.h"

#define TOKEN "sess-0123456789"

/* A server that answers one request with this, on a port of its own. */
struct server {
    const char *answer;
    int listener;
    unsigned port;
    char base[64];
    char head[2048]; /* of the request */
    pthread_t thread;
};

static void *serve(void *arg)
{
    struct server *server = arg;
    int peer = accept(server->listener, NULL, NULL);
    size_t length = 0;
    ssize_t got = 1;

    /* Until the body's end: all bodies here end so, and requests without one in an empty line. */
    while (peer >= 0 && got > 0 && !strstr(server->head, "}}") &&
           (!strstr(server->head, "\r\n\r\n") || strstr(server->head, "Content-Length"))) {
        got = recv(peer, server->head + length, sizeof server->head - 1 - length, 0);
        length += got > 0 ? (size_t)got : 0;
    }
    if (peer >= 0)
        (void)send(peer, server->answer, strlen(server->answer), MSG_NOSIGNAL);
    (void)close(peer);
    return NULL;
}

static void server_start(struct server *server, const char *answer)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;

    *server = (struct server){.answer = answer, .listener = socket(AF_INET, SOCK_STREAM, 0)};
    assert_true(server->listener >= 0);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&at, size), 0);
    assert_int_equal(getsockname(server->listener, (struct sockaddr *)&at, &size), 0);
    server->port = ntohs(at.sin_port);
    (void)snprintf(server->base, sizeof server->base, "http://127.0.0.1:%u", server->port);
    if (answer) { /* else connections are refused */
        assert_int_equal(listen(server->listener, 1), 0);
        assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
    }
}

static void server_end(struct server *server)
{
    if (server->answer)
        assert_int_equal(pthread_join(server->thread, NULL), 0);
    (void)close(server->listener);
}

/* What such a program does; out is to be released. */
static enum transport_end ask(const struct server *server, enum fmcall_kind kind,
                              struct decoded *out)
{
    struct transport_options options = {.verify = true, .parallel = 1};
    struct credential *credential = credential_session(secret_of(TOKEN));
    struct secrets secrets = {0};
    struct request request;

    *out = (struct decoded){0};
    exchange_ca(&options, NULL);
    request = request_call(server->base, kind,
                           &(struct fmcall_about){.name = "c-1", .step = "/fA", .tree = 77});
    struct exchange *exchange = exchange_create(&options, NULL, &request, credential, 60000);
    assert_non_null(exchange);
    struct transport_answer answer = exchange_perform(exchange);
    credential_add_secrets(credential, &secrets);
    if (answer.end == TRANSPORT_ANSWERED)
        decode_call(out, kind, true, answer.status, answer.body, answer.length, &secrets);
    else
        (void)snprintf(out->words, sizeof out->words, "%.250s", answer.words);
    enum transport_end end = answer.end;
    exchange_destroy(exchange);
    request_release(&request);
    credential_drop(credential);
    assert_null(strstr(out->words, TOKEN));
    return end;
}

static void one_call__goes_out_with_the_token_and_is_understood(void **state)
{
    static const struct {
        enum fmcall_kind kind;
        const char *line, *answer;
        enum fmcall_outcome outcome;
        const char *words;
    } rows[] = {
        {FMCALL_END_STEP, "PATCH /fabric/collectives/jobs/c-1 HTTP/1.1\r\n",
         "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", FM_OK, "HTTP 200"},
        {FMCALL_END_STEP, "PATCH /fabric/collectives/jobs/c-1 HTTP/1.1\r\n",
         "HTTP/1.1 403 No\r\nContent-Length: 40\r\n\r\n{\"message\":\"" TOKEN " is unknown\"}",
         FM_REFUSED, "HTTP 403: *** is unknown"},
        {FMCALL_STEPS, "GET /fabric/collectives/jobs/c-1 HTTP/1.1\r\n",
         "HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n{\"jobSteps\":{\"/fA\":[77]}}", FM_OK,
         "HTTP 200"},
        {FMCALL_END_TREE, "DELETE /fabric/collectives/multicasts/77 HTTP/1.1\r\n",
         "HTTP/1.1 404 Gone\r\nContent-Length: 56\r\n\r\n"
         "{\"statusCode\":404,\"documentKind\":\"common:ErrorResponse\"}",
         FM_GONE, "HTTP 404"},
        {FMCALL_END_TREE, "DELETE /fabric/collectives/multicasts/77 HTTP/1.1\r\n",
         "HTTP/1.1 404 Not Found\r\nContent-Length: 19\r\n\r\n404 page not found\n", FM_NOT_ROUTED,
         "HTTP 404 that the fabric manager did not write (a gateway in front of it? a wrong [fm] "
         "url?): 404 page not found"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct server server;
        struct decoded decoded;

        server_start(&server, rows[i].answer);
        assert_int_equal(ask(&server, rows[i].kind, &decoded), TRANSPORT_ANSWERED);
        server_end(&server);
        assert_int_equal(strncmp(server.head, rows[i].line, strlen(rows[i].line)), 0);
        assert_non_null(strstr(server.head, "\r\nAuthorization: Bearer " TOKEN "\r\n"));
        assert_int_equal(decoded.outcome, rows[i].outcome);
        assert_string_equal(decoded.words, rows[i].words);
        if (rows[i].kind == FMCALL_STEPS) {
            const struct fmcall_steps *steps = decoded.steps;
            assert_int_equal(steps->count, 1);
            assert_string_equal(steps->steps[0].step, "/fA");
            assert_int_equal(steps->steps[0].trees[0], 77);
        }
        decoded_release(&decoded);
    }
}

static void one_call__that_reaches_nobody_says_so(void **state)
{
    struct server server;
    struct decoded decoded;

    server_start(&server, NULL);
    assert_int_equal(ask(&server, FMCALL_END_STEP, &decoded), TRANSPORT_UNREACHED);
    assert_non_null(strstr(decoded.words, "cannot be reached"));
    server_end(&server);
}

/* No advice about mcastd.conf for a program without one. */
static void words__are_bare_where_that_is_asked_for(void **state)
{
    struct server server;
    char url[80];

    server_start(&server, NULL);
    assert_int_equal(listen(server.listener, 4), 0);
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%u", server.port);
    for (int bare = 0; bare <= 1; bare++) {
        struct transport_options options = {.verify = true, .bare = bare, .parallel = 1};
        struct request request;
        exchange_ca(&options, "/nowhere/ca.pem");
        request = request_call(url, FMCALL_STEPS,
                               &(struct fmcall_about){.name = "c-1", .step = NULL, .tree = 0});
        struct exchange *exchange = exchange_create(&options, NULL, &request, NULL, 60000);
        assert_non_null(exchange);
        struct transport_answer answer = exchange_perform(exchange);
        assert_int_equal(answer.end, TRANSPORT_UNREACHED);
        assert_true(answer.tls_fault);
        assert_non_null(strstr(answer.words, "/nowhere/ca.pem"));
        assert_int_equal(!strstr(answer.words, "[fm]"), bare);
        exchange_destroy(exchange);
        request_release(&request);
    }
    server_end(&server);
}

static void ca__is_a_file_or_a_directory(void **state)
{
    struct transport_options options = {0};

    exchange_ca(&options, "/");
    assert_string_equal(options.ca, "/");
    assert_true(options.ca_directory);
    exchange_ca(&options, "/proc/self/exe");
    assert_false(options.ca_directory);
    exchange_ca(&options, NULL);
    assert_null(options.ca);
    assert_false(options.ca_directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_call__goes_out_with_the_token_and_is_understood),
        cmocka_unit_test(one_call__that_reaches_nobody_says_so),
        cmocka_unit_test(words__are_bare_where_that_is_asked_for),
        cmocka_unit_test(ca__is_a_file_or_a_directory),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
