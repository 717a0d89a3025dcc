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

#include <sys/resource.h>

/* Many requests, many connections. */

#define JOB "/v1/clusters/elcap/jobs/"

enum { CROWD = 1000, PIPELINED = 60 };

static int open_site(void **state)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    *state = site_open(&(struct site_options){.mcastd = MCASTD});
    return 0;
}

static int close_site(void **state)
{
    site_close(*state);
    return 0;
}

static char *append_request(char *at, const char *method, int i)
{
    const char *body = strcmp(method, "PUT") ? "" : "{\"uid\":1,\"node_count\":1}";
    return at + sprintf(at, "%s " JOB "f%d HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
                        method, i, strlen(body), body);
}

/* 60 requests in one write: 60 answers, in their order. */
static void pipeline__gets_all_its_answers(void **state)
{
    static const struct {
        const char *method;
        int status;
    } rounds[] = {{"PUT", 201}, {"PUT", 200}, {"GET", 200}, {"DELETE", 202}, {"DELETE", 200}};
    struct site *site = *state;
    struct line *line = site_line(site);
    static char text[PIPELINED * 256];
    for (size_t round = 0; round < sizeof rounds / sizeof rounds[0]; round++) {
        char *end = text;
        for (int i = 0; i < PIPELINED; i++)
            end = append_request(end, rounds[round].method, i);
        assert_int_equal(line_send(line, text, (size_t)(end - text)), 0);
        for (int i = 0; i < PIPELINED; i++) {
            struct answer answer;
            char job[16];
            assert_int_equal(line_answer(line, false, &answer), 0);
            assert_int_equal(answer.status, rounds[round].status);
            snprintf(job, sizeof job, "f%d", i);
            assert_string_equal(json_string_value(json_object_get(answer.json, "job")), job);
            answer_release(&answer);
        }
    }
    line_close(line);
}

/* Answers that wait for a commit and answers that do not, and refusals, mixed on one connection. */
static void pipeline__keeps_the_order_of_slow_and_quick(void **state)
{
    struct site *site = *state;
    struct line *line = site_line(site);
    static char text[PIPELINED * 512];
    char *end = text;
    for (int i = 0; i < PIPELINED; i++) {
        end = append_request(end, "PUT", i);
        end += sprintf(end, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
        end += sprintf(end, "PUT /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
    }
    assert_int_equal(line_send(line, text, (size_t)(end - text)), 0);
    for (int i = 0; i < PIPELINED * 3; i++) {
        static const int expected[] = {201, 200, 404};
        struct answer answer;
        assert_int_equal(line_answer(line, false, &answer), 0);
        assert_int_equal(answer.status, expected[i % 3]);
        answer_release(&answer);
    }
    line_close(line);
}

static void thousand_connections__are_served_at_once(void **state)
{
    static struct line *lines[CROWD];
    struct site *site = *state;
    for (int i = 0; i < CROWD; i++)
        lines[i] = site_line(site);
    for (int round = 0; round < 2; round++) {
        char text[256];
        for (int i = 0; i < CROWD; i++)
            assert_int_equal(
                line_send(lines[i], text,
                          (size_t)(append_request(text, round ? "DELETE" : "PUT", i) - text)),
                0);
        for (int i = CROWD - 1; i >= 0; i--) {
            struct answer answer;
            assert_int_equal(line_answer(lines[i], false, &answer), 0);
            assert_int_equal(answer.status, round ? 202 : 201);
            answer_release(&answer);
        }
    }
    for (int i = 0; i < CROWD; i++)
        line_close(lines[i]);
}

/* Those above the limit are told so, and room is made when others leave. */
static void surplus_connection__is_told_503_and_closed(void **state)
{
    enum { MAX = 20, MORE = 10 };
    struct site *site = *state;
    struct line *lines[MAX + MORE];
    struct answer answer;
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .broker = "connections_max = 20"});
    for (int i = 0; i < MAX + MORE; i++) {
        lines[i] = site_line(site);
        site_ask(site, lines[i], "PUT", JOB "f1", NULL, "{\"uid\":1,\"node_count\":1}", &answer);
        assert_int_equal(answer.status, i == 0 ? 201 : i < MAX ? 200 : 503);
        if (i >= MAX) {
            site_expect_problem(&answer, 503, "too-many-connections", NULL);
            assert_true(line_ended(lines[i]));
        } else {
            answer_release(&answer);
        }
    }
    for (int i = 0; i < MAX + MORE; i++)
        line_close(lines[i]);
    struct line *line = site_line(site);
    int status;
    while ((status = site_ask(site, line, "GET", "/v1/status", NULL, NULL, NULL)) == 503) {
        line_close(line); /* the broker has yet to see the others leave */
        line = site_line(site);
    }
    assert_int_equal(status, 200);
    line_close(line);
}

/* What was accepted before SIGTERM is answered: B6. */
static void stop__answers_what_was_accepted(void **state)
{
    struct site *site = *state;
    static struct line *lines[CROWD];
    char text[256];
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .keep = true});
    for (int i = 0; i < CROWD; i++) {
        lines[i] = site_line(site);
        assert_int_equal(line_send(lines[i], text, (size_t)(append_request(text, "PUT", i) - text)),
                         0);
    }
    struct answer answer;
    assert_int_equal(line_answer(lines[CROWD - 1], false, &answer), 0);
    answer_release(&answer);
    site_stop(site);
    int created = 1;
    for (int i = 0; i < CROWD - 1; i++) {
        if (line_answer(lines[i], false, &answer) < 0)
            continue; /* was not read before the end: nothing was promised */
        assert_true(answer.status == 201 || answer.status == 503);
        created += answer.status == 201;
        answer_release(&answer);
    }
    for (int i = 0; i < CROWD; i++)
        line_close(lines[i]);
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .keep = true});
    assert_int_equal(site_call(site, "GET", "/v1/status", NULL, &answer), 200);
    json_t *jobs = json_object_get(answer.json, "jobs");
    assert_int_equal(json_integer_value(json_object_get(jobs, "active")), created);
    answer_release(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pipeline__gets_all_its_answers, open_site, close_site),
        cmocka_unit_test_setup_teardown(pipeline__keeps_the_order_of_slow_and_quick, open_site,
                                        close_site),
        cmocka_unit_test_setup_teardown(thousand_connections__are_served_at_once, open_site,
                                        close_site),
        cmocka_unit_test_setup_teardown(surplus_connection__is_told_503_and_closed, open_site,
                                        close_site),
        cmocka_unit_test_setup_teardown(stop__answers_what_was_accepted, open_site, close_site),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
