/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/contract.h"
#include "tests/system/http/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* Input that no client should send: each is answered, and nothing is changed by it. */

#define JOB "/v1/clusters/elcap/jobs/"

static struct site *site;

static int open_site(void **state)
{
    (void)state;
    site = site_open(&(struct site_options){.mcastd = MCASTD});
    return 0;
}

static int close_site(void **state)
{
    (void)state;
    site_close(site);
    return 0;
}

/* Nothing came of all that: no reservation, and the broker answers. */
static void assert_untouched(void)
{
    struct answer answer;
    assert_int_equal(site_call(site, "GET", "/v1/jobs", NULL, &answer), 200);
    assert_int_equal(json_array_size(json_object_get(answer.json, "jobs")), 0);
    answer_release(&answer);
}

static void address__that_is_bad_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path;
        int status;
        const char *code, *field;
    } cases[] = {
        {"GET", "/", 404, "no-such-path", NULL},
        {"GET", "/v1", 404, "no-such-path", NULL},
        {"GET", "/v1/jobs/", 404, "no-such-path", NULL},
        {"GET", "/v1/reservations", 404, "no-such-path", NULL},
        {"GET", "/v1/reservation/steps", 404, "no-such-path", NULL},
        {"DELETE", "/v1/reservation/steps//fA", 404, "no-such-path", NULL},
        {"DELETE", "/v1/reservation/steps/f%00A", 400, "bad-escape", NULL},
        {"GET", "/v1/reservation", 401, "no-token", "Authorization"},
        {"DELETE", "/v1/reservation/steps/fA", 401, "no-token", "Authorization"},
        {"PUT", JOB "f1/nodes", 404, "no-such-path", NULL},
        {"PUT", JOB "f1/nodes/n1/env", 404, "no-such-path", NULL},
        {"GET", "/a/b/c/d/e/f/g/h/i/j/k", 404, "no-such-path", NULL},
        {"GET", "/v1/jobs?limit=%zz", 400, "bad-escape", NULL},
        {"GET", "/v1/%00", 400, "bad-escape", NULL},
        {"GET", "/v1/jobs?uid=1&uid=2", 400, "repeated-parameter", "uid"},
        {"GET", "/v1/jobs?user=1", 422, "unknown-parameter", "user"},
        {"GET", "/healthz?x", 422, "unknown-parameter", "x"},
        {"PUT", JOB "a%2Fb", 422, "invalid", "job"},
        {"PUT", JOB "a%20b", 422, "invalid", "job"},
        {"PUT", JOB "%F0%9F%90%9F", 422, "invalid", "job"},
        {"PUT", JOB "%FF%FE", 422, "invalid", "job"},
        {"GET", JOB "a%22%5C%0A", 422, "invalid", "job"},
        {"PUT", "/v1/clusters/EL-CAP/jobs/f1", 404, "no-such-cluster", "cluster"},
        {"DELETE", "/v1/clusters/%22/jobs/f1", 404, "no-such-cluster", "cluster"},
        {"POST", "/v1/jobs", 405, "method-not-allowed", NULL},
        {"OPTIONS", "/v1/jobs", 405, "method-not-allowed", NULL},
        {"BREW", "/healthz", 405, "method-not-allowed", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct answer answer;
        site_call(site, cases[i].method, cases[i].path,
                  strcmp(cases[i].method, "PUT") ? NULL : "{\"uid\":1,\"node_count\":1}", &answer);
        site_expect_problem(&answer, cases[i].status, cases[i].code, cases[i].field);
    }
    struct answer answer;
    assert_int_equal(site_call(site, "PUT", "/v1/clusters/nowhere/jobs/f1",
                               "{\"uid\":1,\"node_count\":1}", &answer),
                     404);
    answer_release(&answer);
    assert_untouched();
}

static void body__that_is_bad_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path, *body;
        int status;
        const char *code, *field;
    } cases[] = {
        {"PUT", JOB "f1", NULL, 400, "bad-json", NULL},
        {"PUT", JOB "f1", "[]", 400, "bad-json", NULL},
        {"PUT", JOB "f1", "{\"uid\":1,\"uid\":1,\"node_count\":1}", 400, "bad-json", NULL},
        {"PUT", JOB "f1", "{\"uid\":1,\"node_count\":1}}", 400, "bad-json", NULL},
        {"PUT", JOB "f1", "{\"uid\":1,\"node_count\":1,\"nods\":1}", 422, "unknown-field", "nods"},
        {"PUT", JOB "f1", "{\"uid\":1}", 422, "missing-field", "nodes"},
        {"PUT", JOB "f1", "{\"uid\":\"1\",\"node_count\":1}", 422, "invalid", "uid"},
        {"PUT", JOB "f1", "{\"uid\":1,\"nodes\":\"a[1-\"}", 422, "invalid", "nodes"},
        {"POST", "/v1/clusters/elcap/sync", "{}", 422, "missing-field", "active"},
        {"POST", "/v1/clusters/elcap/sync", "{\"active\":[1]}", 422, "invalid", "active[0]"},
        {"POST", "/v1/clusters/elcap/sync", "{\"active\":", 400, "bad-json", NULL},
    };
    struct line *line = site_line(site); /* one: a refusal does not cost the connection */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct answer answer;
        site_ask(site, line, cases[i].method, cases[i].path, NULL, cases[i].body, &answer);
        site_expect_problem(&answer, cases[i].status, cases[i].code, cases[i].field);
    }
    struct answer answer;
    site_ask(site, line, "PUT", JOB "f1", NULL, "{\"uid\":1,\n \"node_count\":x}", &answer);
    assert_non_null(strstr(answer.body, "line 2, column 15"));
    answer_release(&answer);
    line_close(line);
    assert_untouched();
}

static void type__other_than_json_is_refused(void **state)
{
    (void)state;
    struct line *line = site_line(site);
    const char *body = "{\"uid\":1,\"node_count\":1}";
    static const char *const bad[] = {
        "Content-Type: text/plain\r\n", "Content-Type: application/jsonl\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n", "Content-Type: \r\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct answer answer;
        site_ask(site, line, "PUT", JOB "f1", bad[i], body, &answer);
        site_expect_problem(&answer, 415, "not-json", NULL);
    }
    assert_untouched();
    static const char *const good[] = {"Content-Type: application/json\r\n",
                                       "Content-Type: Application/JSON; charset=utf-8\r\n", NULL};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char path[64];
        snprintf(path, sizeof path, JOB "type%zu", i);
        assert_int_equal(site_ask(site, line, "PUT", path, good[i], body, NULL), 201);
        assert_int_equal(site_ask(site, line, "DELETE", path, NULL, NULL, NULL), 202);
    }
    line_close(line);
}

/* Its length is told: it is refused before it comes, and the connection ends. */
static void large_body__is_refused_before_it_comes(void **state)
{
    (void)state;
    static const struct {
        const char *request;
        int status;
        const char *code;
    } cases[] = {
        {"PUT " JOB "f1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n", 413, "too-large"},
        {"PUT " JOB "f1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n"
         "Expect: 100-continue\r\n\r\n",
         413, "too-large"},
        {"POST /v1/clusters/elcap/sync HTTP/1.1\r\nHost: x\r\nContent-Length: 16777217\r\n\r\n",
         413, "too-large"},
        {"POST /v1/clusters/elcap/sync HTTP/1.1\r\nHost: x\r\n"
         "Content-Length: 9223372036854775807\r\n\r\n",
         413, "too-large"},
        {"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", 413, "too-large"},
        {"PUT /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", 404,
         "no-such-path"},
        {"PUT /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n",
         404, "no-such-path"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct answer answer;
        struct line *line = site_line(site);
        assert_int_equal(line_send(line, cases[i].request, strlen(cases[i].request)), 0);
        assert_int_equal(line_answer(line, false, &answer), 0);
        site_expect_problem(&answer, cases[i].status, cases[i].code, NULL);
        assert_true(line_ended(line));
        line_close(line);
    }
    assert_untouched();
}

/* Without its length it is read to its end first, and forgotten. */
static void large_body__in_chunks_is_refused_at_its_end(void **state)
{
    (void)state;
    enum { CHUNK = 65536 };
    static char chunk[CHUNK + 32];
    static const char head[] =
        "PUT " JOB "f1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    struct answer answer;
    struct line *line = site_line(site);
    int mark = sprintf(chunk, "%x\r\n", CHUNK);
    memset(chunk + mark, ' ', CHUNK);
    memcpy(chunk + mark + CHUNK, "\r\n", 2);
    assert_int_equal(line_send(line, head, sizeof head - 1), 0);
    for (int i = 0; i < 17; i++)
        assert_int_equal(line_send(line, chunk, (size_t)mark + CHUNK + 2), 0);
    assert_int_equal(line_send(line, "0\r\n\r\n", 5), 0);
    assert_int_equal(line_answer(line, false, &answer), 0);
    site_expect_problem(&answer, 413, "too-large", NULL);
    assert_true(line_ended(line));
    line_close(line);
    assert_untouched();
}

static void body__in_small_pieces_is_read(void **state)
{
    (void)state;
    static const char text[] =
        "PUT " JOB "pieces HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
        "chunked\r\n\r\n1\r\n{\r\n2\r\n\"u\r\n1b\r\nid\":1,\"nodes\":\"a,b\"}"
        "       \r\n0\r\n\r\n";
    struct answer answer;
    struct line *line = site_line(site);
    for (size_t i = 0; i < sizeof text - 1; i++)
        assert_int_equal(line_send(line, text + i, 1), 0);
    assert_int_equal(line_answer(line, false, &answer), 0);
    assert_int_equal(answer.status, 201);
    assert_int_equal(json_integer_value(json_object_get(answer.json, "node_count")), 2);
    answer_release(&answer);
    assert_true(line_ended(line)); /* where the chunks ended could be seen differently */
    line_close(line);
    assert_int_equal(site_call(site, "DELETE", JOB "pieces", NULL, NULL), 202);
}

/* What is no HTTP is MHD's to refuse; whatever it does, the broker lives on. */
static void garbage__does_no_harm(void **state)
{
    (void)state;
    static const char *const garbage[] = {
        "\r\n\r\n",
        "GARBAGE\r\n\r\n",
        "GET\r\n\r\n",
        "GET \r\n\r\n",
        "GET  HTTP/1.1\r\n\r\n",
        "GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "PUT " JOB "f1 HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}{}{}",
        "PUT " JOB "f1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "PUT " JOB "f1 HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"uid\"",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "GET /",
    };
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        struct line *line = site_line(site);
        (void)line_send(line, garbage[i], strlen(garbage[i]));
        line_close(line);
    }
    char *headers = malloc(200000);
    assert_non_null(headers);
    size_t used = 0;
    for (int i = 0; i < 2000; i++)
        used += (size_t)sprintf(headers + used, "X-%d: %050d\r\n", i, i);
    struct line *line = site_line(site);
    (void)line_request(line, "GET", "/healthz", headers, NULL);
    line_close(line);
    memset(headers, 'a', 100000);
    headers[0] = '/';
    headers[100000] = '\0';
    line = site_line(site);
    (void)line_request(line, "GET", headers, NULL, NULL);
    line_close(line);
    free(headers);
    assert_untouched();
    assert_true(process_alive(site_broker(site)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(address__that_is_bad_is_refused),
        cmocka_unit_test(body__that_is_bad_is_refused),
        cmocka_unit_test(large_body__is_refused_before_it_comes),
        cmocka_unit_test(large_body__in_chunks_is_refused_at_its_end),
        cmocka_unit_test(garbage__does_no_harm),
        cmocka_unit_test(type__other_than_json_is_refused),
        cmocka_unit_test(body__in_small_pieces_is_read),
    };
    return cmocka_run_group_tests(tests, open_site, close_site);
}
