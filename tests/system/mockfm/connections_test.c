/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of all sorts: pipelined, a thousand at once, kept, split, expecting a 100. */
#include <sys/resource.h>

#include "tests/system/mockfm/authority.h"
#include "tests/system/mockfm/mockfm.h"
#include "tests/system/rig/plainhttp.h"
#include "tests/unit/unit.h"

static const char *const with_tls[] = {"--tls-cert", "server.pem", "--tls-key", "server.key", NULL};

static void pipeline_sixty(struct mockfm_fm *fm, const char *const *options)
{
    enum { COUNT = 60 };
    char requests[COUNT * 256] = "";
    struct rawhttp http;
    size_t length = 0;

    mockfm_start(fm, options);
    for (int i = 0; i < COUNT; i++) {
        char body[64];
        int body_length = snprintf(body, sizeof body, "{\"jobID\":\"c-%d\",\"mcastLimit\":1}", i);

        length += (size_t)snprintf(requests + length, sizeof requests - length,
                                   "POST " DOUBLE_JOBS " HTTP/1.1\r\nHost: mock\r\n" DOUBLE_LOGIN
                                   "Content-Length: %d\r\n\r\n%s",
                                   body_length, body);
    }
    rawhttp_open(&http, fm->port);
    if (fm->tls)
        rawhttp_secure(&http);
    rawhttp_send(&http, requests, length);
    for (int i = 0; i < COUNT; i++) {
        struct rawhttp_reply reply;
        char id[16];

        snprintf(id, sizeof id, "c-%d", i);
        rawhttp_receive(&http, &reply);
        assert_int_equal(reply.status, 201);
        assert_string_equal(json_string_value(json_object_get(reply.json, "jobID")), id);
        rawhttp_release(&reply);
    }
    rawhttp_close(&http);
    assert_int_equal(mockfm_count_jobs(fm), COUNT);
}

static void pipelined__sixty_get_sixty_answers(void **state)
{
    pipeline_sixty(*state, NULL);
}

/* One TLS record holds them all: what libmicrohttpd has decrypted, the kernel does not announce. */
static void pipelined__sixty_get_sixty_answers_over_tls(void **state)
{
    struct mockfm_fm *fm = *state;
    struct authority authority;

    authority_create(&authority, fm->folder, "ca");
    authority_issue(&authority, fm->folder, "server", time(NULL) + 3600);
    authority_destroy(&authority);
    pipeline_sixty(fm, with_tls);
}

/* The same with a delay for each, which suspends the connection 60 times. */
static void pipelined__are_answered_in_order_when_delayed(void **state)
{
    enum { COUNT = 60 };
    static const char *const options[] = {"--latency", "1", NULL};
    struct mockfm_fm *fm = *state;
    char requests[COUNT * 200];
    struct rawhttp http;
    size_t length = 0;

    mockfm_start(fm, options);
    for (int i = 0; i < COUNT; i++)
        length += (size_t)snprintf(
            requests + length, sizeof requests - length,
            "GET " DOUBLE_JOBS "/c-%d HTTP/1.1\r\nHost: mock\r\n" DOUBLE_LOGIN "\r\n", i);
    rawhttp_open(&http, fm->port);
    rawhttp_send(&http, requests, length);
    for (int i = 0; i < COUNT; i++) {
        struct rawhttp_reply reply;
        char message[32];

        snprintf(message, sizeof message, "no such job c-%d", i);
        rawhttp_receive(&http, &reply);
        assert_int_equal(reply.status, 404);
        assert_string_equal(json_string_value(json_object_get(reply.json, "message")), message);
        rawhttp_release(&reply);
    }
    rawhttp_close(&http);
}

static void connections__a_thousand_at_once_are_served(void **state)
{
    enum { COUNT = 1000 };
    struct mockfm_fm *fm = *state;
    struct rawhttp *https = calloc(COUNT, sizeof *https);
    struct rlimit limit;

    assert_non_null(https);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    mockfm_start(fm, NULL);
    /* All are open, and each is asked twice, before the first answer is read. */
    for (int i = 0; i < COUNT; i++)
        rawhttp_open(&https[i], fm->port);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++)
            rawhttp_ask(&https[i], "GET", DOUBLE_JOBS, DOUBLE_LOGIN, NULL);
    }
    for (int i = 0; i < 2 * COUNT; i++) {
        struct rawhttp_reply reply;

        rawhttp_receive(&https[i % COUNT], &reply);
        assert_int_equal(reply.status, 200);
        rawhttp_release(&reply);
    }
    assert_int_equal(mockfm_log_total(fm, "connections"), COUNT);
    assert_int_equal(mockfm_log_total(fm, "requests"), 2 * COUNT);
    for (int i = 0; i < COUNT; i++)
        rawhttp_close(&https[i]);
    free(https);
}

/* Slurm's DELETE waits for a 100 before it sends its empty body, a second at most: here the body is
 * sent only when the 100 has come, so a server that waits for it would never be answered. */
static void expect__gets_its_100_at_once(void **state)
{
    static const char head[] = "DELETE " DOUBLE_JOBS "/c-1 HTTP/1.1\r\nHost: mock\r\n" DOUBLE_LOGIN
                               "Accept: application/json\r\nTransfer-Encoding: chunked\r\n"
                               "Content-Type: application/json\r\nExpect: 100-continue\r\n\r\n";
    struct mockfm_fm *fm = *state;
    struct rawhttp http;
    struct rawhttp_reply reply;
    char bearer[128];

    mockfm_reserve(fm, "c-1", 1, bearer);
    rawhttp_open(&http, fm->port);
    rawhttp_send(&http, head, sizeof head - 1);
    rawhttp_receive(&http, &reply);
    assert_int_equal(reply.status, 100);
    rawhttp_release(&reply);
    rawhttp_send(&http, "0\r\n\r\n", 5);
    rawhttp_receive(&http, &reply);
    assert_int_equal(reply.status, 200);
    rawhttp_release(&reply);
    /* The connection is kept. */
    rawhttp_ask(&http, "GET", DOUBLE_JOBS "/c-1", DOUBLE_LOGIN, NULL);
    rawhttp_receive(&http, &reply);
    assert_int_equal(reply.status, 404);
    rawhttp_release(&reply);
    rawhttp_close(&http);
}

static void request__may_come_in_pieces(void **state)
{
    static const char request[] = "POST " DOUBLE_JOBS " HTTP/1.1\r\nHost: mock\r\n" DOUBLE_LOGIN
                                  "Transfer-Encoding: chunked\r\n\r\n"
                                  "10\r\n{\"jobID\":\"c-1\",\"\r\n"
                                  "f\r\nmcastLimit\": 4}\r\n0\r\n\r\n";
    struct mockfm_fm *fm = *state;
    struct rawhttp http;
    struct rawhttp_reply reply;

    rawhttp_open(&http, fm->port);
    for (size_t i = 0; i < sizeof request - 1; i++)
        rawhttp_send(&http, request + i, 1);
    rawhttp_receive(&http, &reply);
    assert_int_equal(reply.status, 201);
    rawhttp_release(&reply);
    rawhttp_close(&http);
}

/* The NICs of a machine as large as El Capitan in one tree. */
static void request__may_be_large(void **state)
{
    enum { NICS = 11136 * 4 };
    struct mockfm_fm *fm = *state;
    struct plainhttp *http;
    struct plainhttp_reply reply;
    char bearer[128], base[64], *body = malloc(NICS * 12 + 256);
    int length;

    assert_non_null(body);
    mockfm_start(fm, NULL);
    mockfm_reserve(fm, "c-1", 1, bearer);
    length = sprintf(body, "{\"jobID\":\"c-1\",\"jobStepID\":\"0\",\"macs\":[");
    for (unsigned i = 0; i < NICS; i++)
        length += sprintf(body + length, "%s\"%X:%02X:%02X\"", i ? "," : "", i >> 16,
                          (i >> 8) & 0xFF, i & 0xFF);
    sprintf(body + length, "]}");
    snprintf(base, sizeof base, "http://127.0.0.1:%u", fm->port);
    assert_non_null(http = plainhttp_create(base, NULL));
    bearer[strcspn(bearer, "\r")] = '\0';
    assert_int_equal(plainhttp_use_bearer(http, bearer + strlen("Authorization: Bearer ")), 0);
    plainhttp_call(http, "POST", DOUBLE_TREES, body, &reply);
    free(body);
    assert_int_equal(reply.status, 201);
    assert_int_equal(json_array_size(json_object_get(reply.json, "macs")), NICS);
    plainhttp_reply_release(&reply);
    plainhttp_destroy(http);
}

static void path__may_be_percent_encoded(void **state)
{
    struct mockfm_fm *fm = *state;
    char bearer[128];

    mockfm_reserve(fm, "c-1", 1, bearer);
    assert_int_equal(
        rawhttp_once(fm->port, "GET", DOUBLE_JOBS "/%63%2D1", DOUBLE_LOGIN, NULL, NULL), 200);
    assert_int_equal(
        rawhttp_once(fm->port, "DELETE", DOUBLE_JOBS "/%63%2d1", DOUBLE_LOGIN, NULL, NULL), 200);
}

/* The log knows paths and statuses; no password and no token is in it, nor in the output. */
static void log__holds_no_secret(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;
    char bearer[128], body[256], path[128], line[512];
    FILE *file;

    mockfm_reserve(fm, "c-1", 1, bearer);
    mockfm_tree(body, "c-1", "0", 0);
    assert_int_equal(rawhttp_once(fm->port, "POST", DOUBLE_TREES, bearer, body, NULL), 201);
    assert_int_equal(rawhttp_once(fm->port, "GET", "/mock/log", NULL, NULL, &reply), 200);
    assert_non_null(strstr(reply.body, "\"path\":\"" DOUBLE_TREES "\",\"status\":201"));
    assert_null(strstr(reply.body, "sess-"));
    assert_null(strstr(reply.body, "Y3hp"));
    rawhttp_release(&reply);
    mockfm_stop(fm);
    file = fopen(folder_path(path, sizeof path, fm->folder, "log"), "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        assert_null(strstr(line, "sess-"));
        assert_null(strstr(line, "passw0rd"));
    }
    fclose(file);
}

UNIT_MAIN(STOPPED(pipelined__sixty_get_sixty_answers),
          STOPPED(pipelined__sixty_get_sixty_answers_over_tls),
          STOPPED(pipelined__are_answered_in_order_when_delayed),
          STOPPED(connections__a_thousand_at_once_are_served),
          RUNNING(expect__gets_its_100_at_once), RUNNING(request__may_come_in_pieces),
          STOPPED(request__may_be_large), RUNNING(path__may_be_percent_encoded),
          RUNNING(log__holds_no_secret))
