/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/contract.h"
#include "tests/system/http/site.h"
#include "tests/system/rig/await.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* The calls of the interface, each answer held against openapi.json. */

#define JOB "/v1/clusters/elcap/jobs/"

SITE_FIXTURE()

static void reserve__answers_the_same_again(void **state)
{
    struct answer first, again, shown;
    const char *body = "{\"uid\":5588,\"nodes\":\"elcap[1-128]\",\"cores_per_node\":96,"
                       "\"vni_count\":2,\"traffic_classes\":[\"low_latency\"]}";
    assert_int_equal(site_call(*state, "PUT", JOB "f1", body, &first), 201);
    assert_string_equal(answer_text(&first, "state"), "active");
    assert_string_equal(answer_text(&first, "nodes"), "elcap[1-128]");
    assert_int_equal(answer_number(&first, "node_count"), 128);
    assert_int_equal(answer_number(&first, "cores_per_node"), 96);
    assert_int_equal(answer_number(&first, "uid"), 5588);
    assert_int_equal(json_array_size(json_object_get(first.json, "vnis")), 2);
    assert_int_equal(site_call(*state, "PUT", JOB "f1", body, &again), 200);
    assert_true(json_equal(first.json, again.json)); /* I7 */
    assert_int_equal(site_call(*state, "GET", JOB "f1", NULL, &shown), 200);
    assert_true(json_equal(first.json, shown.json));
    answer_release(&first);
    answer_release(&again);
    answer_release(&shown);

    assert_int_equal(site_call(*state, "PUT", JOB "f1", ONE_NODE, &again), 409);
    assert_string_equal(answer_text(&again, "code"), "conflict");
    assert_true(answer_text(&again, "field")[0] != '\0');
    answer_release(&again);
}

static void release__is_answered_at_once_and_again(void **state)
{
    struct answer answer;
    assert_int_equal(site_call(*state, "PUT", JOB "f1", ONE_NODE, NULL), 201);
    assert_int_equal(site_call(*state, "DELETE", JOB "f1", NULL, &answer), 202); /* F18 */
    assert_string_equal(answer_text(&answer, "state"), "releasing");
    assert_true(answer_text(&answer, "released")[0] != '\0');
    answer_release(&answer);
    assert_int_equal(site_call(*state, "DELETE", JOB "f1", NULL, NULL), 200);
    site_refused(*state, "DELETE", JOB "never", NULL, 404, "not-found", NULL);
    /* It is remembered that its release came first. */
    site_refused(*state, "PUT", JOB "never", ONE_NODE, 409, "released-before-reserve", NULL);
}

/* B5: who has looked at one life releases that one, and no later one of the name. */
static void release__of_a_number_is_of_that_life(void **state)
{
    const char *bare = "{\"uid\":1,\"node_count\":1,\"vni_count\":0,\"hwcoll\":\"off\"}";
    struct answer made, answer;
    char path[128];
    assert_int_equal(site_call(*state, "PUT", JOB "f1", bare, &made), 201);
    const long long first = answer_number(&made, "number");
    answer_release(&made);
    snprintf(path, sizeof path, JOB "f1?number=%lld", first);
    assert_int_equal(site_call(*state, "DELETE", path, NULL, &answer), 202);
    assert_int_equal(answer_number(&answer, "number"), first);
    answer_release(&answer);
    assert_int_equal(site_call(*state, "PUT", JOB "f1", bare, NULL), 201); /* nothing waits */
    site_refused(*state, "DELETE", path, NULL, 409, "other-reservation", NULL);
    assert_int_equal(site_call(*state, "GET", JOB "f1", NULL, &answer), 200);
    assert_string_equal(answer_text(&answer, "state"), "active");
    answer_release(&answer);
    site_refused(*state, "DELETE", JOB "f2?number=1", NULL, 404, "not-found", NULL);
    assert_int_equal(site_call(*state, "PUT", JOB "f2", ONE_NODE, NULL), 201);
    static const char *const wrong[] = {"", "0", "-1", "1x", "18446744073709551616"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(path, sizeof path, JOB "f2?number=%s", wrong[i]);
        site_refused(*state, "DELETE", path, NULL, 422, "invalid", "number");
    }
}

/* As Slurm's plugin sends its DELETE: chunked, Expect, no body, an answer at once. */
static void release__takes_an_expected_empty_chunked_body(void **state)
{
    struct site *site = *state;
    struct answer answer;
    struct line *line = site_line(site);
    static const char request[] = "DELETE " JOB "f1 HTTP/1.1\r\nHost: x\r\n"
                                  "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n";
    assert_int_equal(site_ask(site, line, "PUT", JOB "f1", NULL, ONE_NODE, NULL), 201);
    assert_int_equal(line_send(line, request, sizeof request - 1), 0);
    assert_int_equal(line_answer(line, false, &answer), 0);
    assert_int_equal(answer.status, 100);
    answer_release(&answer);
    assert_int_equal(line_send(line, "0\r\n\r\n", 5), 0);
    assert_int_equal(line_answer(line, false, &answer), 0);
    assert_int_equal(answer.status, 202);
    answer_release(&answer);
    line_close(line);
}

static void env__comes_as_asked_for(void **state)
{
    struct site *site = *state;
    struct answer answer;
    char value[64];
    struct line *line = site_line(site);
    const char *path = JOB "f1/env?step=%2FfA%2FfB";
    assert_int_equal(site_ask(site, line, "PUT", JOB "f1", NULL, ONE_NODE, NULL), 201);
    assert_int_equal(site_ask(site, line, "GET", path, NULL, NULL, &answer), 200);
    assert_true(json_is_object(answer.json));
    assert_true(answer_header(&answer, "Cache-Control", value, sizeof value));
    assert_string_equal(value, "no-store");
    answer_release(&answer);
    assert_int_equal(site_ask(site, line, "GET", path, "Accept: text/plain\r\n", NULL, &answer),
                     200);
    assert_true(answer_header(&answer, "Content-Type", value, sizeof value));
    assert_string_equal(value, "text/plain; charset=utf-8");
    assert_int_equal(answer.length, 0); /* no collectives, no variables */
    answer_release(&answer);
    site_ask(site, line, "GET", path, "Accept: image/png\r\n", NULL, &answer);
    site_expect_problem(&answer, 406, "not-acceptable", "Accept");
    /* What no token can name (I6) is no step. */
    static const char *const none[] = {"a%20b",      "%2FfA%2F",   "%2FfA%2F%2FfB", "fA%2FfB",
                                       "%2FfA%2F..", "%2FfA%2CfB", "%2FfA%252FfB"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        char asked[128];
        (void)snprintf(asked, sizeof asked, JOB "f1/env?step=%s", none[i]);
        site_ask(site, line, "GET", asked, NULL, NULL, &answer);
        site_expect_problem(&answer, 422, "invalid", "step");
    }
    site_ask(site, line, "GET", JOB "f2/env", NULL, NULL, &answer);
    site_expect_problem(&answer, 404, "not-found", NULL);
    line_close(line);
}

static const char profiles[] = "pool = 100-102\n[profile \"large\"]\n"
                               "description = \"many\" nodes\nvnis = 2\n"
                               "traffic_classes = low_latency\n[profile \"of_tuo\"]\n"
                               "clusters = tuo\n";

static int reserve_with(struct site *site, const char *job, const char *field, const char *value)
{
    char path[64], body[128];
    snprintf(path, sizeof path, JOB "%s", job);
    snprintf(body, sizeof body, "{\"uid\":7,\"node_count\":1,\"vni_count\":0,\"%s\":%s}", field,
             value);
    if (strcmp(field, "vni_count") == 0)
        snprintf(body, sizeof body, "{\"uid\":7,\"node_count\":1,\"vni_count\":%s}", value);
    const int status = site_call(site, "PUT", path, body, NULL);
    if (status == 201)
        site_call(site, "DELETE", path, NULL, NULL);
    return status;
}

/* P3: what is offered is accepted, one beyond it is refused. */
static void options__are_what_a_reserve_accepts(void **state)
{
    struct site *site = *state;
    struct answer answer;
    char value[64], name[32];
    json_t *word;
    size_t i, words = 0;
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .vni = profiles});
    assert_int_equal(site_call(site, "GET", "/v1/options?cluster=elcap", NULL, &answer), 200);
    static const struct {
        const char *list, *field;
    } lists[] = {{"interconnect", "interconnect"}, {"hwcoll", "hwcoll"}};
    for (size_t j = 0; j < 2; j++)
        json_array_foreach(json_object_get(json_object_get(answer.json, lists[j].list), "allowed"),
                           i, word)
        {
            snprintf(value, sizeof value, "\"%s\"", json_string_value(word));
            snprintf(name, sizeof name, "o%zu", words++);
            assert_int_equal(reserve_with(site, name, lists[j].field, value), 201);
        }
    assert_int_equal(words, 3 + 3); /* required is not offered: this site gives no addresses */
    assert_int_equal(reserve_with(site, "r", "hwcoll", "\"required\""), 422);
    assert_int_equal(reserve_with(site, "i", "interconnect", "\"ethernet\""), 422);
    json_array_foreach(json_object_get(json_object_get(answer.json, "traffic_classes"), "allowed"),
                       i, word)
    {
        snprintf(value, sizeof value, "[\"%s\"]", json_string_value(word));
        snprintf(name, sizeof name, "t%zu", i);
        assert_int_equal(reserve_with(site, name, "traffic_classes", value), 201);
    }
    assert_int_equal(reserve_with(site, "tc", "traffic_classes", "[\"bulk_data\"]"), 422);
    assert_int_equal(answer_number(&answer, "vnis.max"), 3);
    assert_int_equal(answer_number(&answer, "fields.vni_count.max"), 3);
    assert_int_equal(reserve_with(site, "v4", "vni_count", "4"), 503);
    assert_int_equal(reserve_with(site, "v3", "vni_count", "3"), 201);
    static const char *const numbers[] = {"cores_per_node", "tasks_per_node", "cpus_per_task"};
    for (size_t j = 0; j < 3; j++) {
        char path[64];
        snprintf(path, sizeof path, "fields.%s.max", numbers[j]);
        const json_int_t max = answer_number(&answer, path);
        snprintf(value, sizeof value, "%" JSON_INTEGER_FORMAT, max);
        assert_int_equal(reserve_with(site, numbers[j], numbers[j], value), 201);
        snprintf(value, sizeof value, "%" JSON_INTEGER_FORMAT, max + 1);
        assert_int_equal(reserve_with(site, "beyond", numbers[j], value), 422);
    }
    answer_release(&answer);
}

/* P3, I7: and a repeat is the same when the profile is another, or none, by then. */
static void profile__stays_what_it_was_for_its_job(void **state)
{
    static const char body[] = "{\"uid\":7,\"node_count\":2,\"profile\":\"large\"}";
    struct site *site = *state;
    struct site_options options = {.mcastd = MCASTD, .keep = true, .vni = profiles};
    struct answer first, again;
    site_restart(site, &options);
    assert_int_equal(site_call(site, "PUT", JOB "f1", body, &first), 201);
    assert_string_equal(answer_text(&first, "profile"), "large");
    assert_int_equal(json_array_size(json_object_get(first.json, "vnis")), 2);
    options.vni = "[profile \"large\"]\nvnis = 0\n";
    assert_true(site_reload(site, &options));
    assert_int_equal(site_call(site, "PUT", JOB "f1", body, &again), 200);
    assert_true(json_equal(first.json, again.json));
    answer_release(&again);
    assert_int_equal(site_call(site, "PUT", JOB "f2", body, &again), 201);
    assert_int_equal(json_array_size(json_object_get(again.json, "vnis")), 0);
    answer_release(&again);
    options.vni = NULL; /* a restart: it is in the ledger */
    site_restart(site, &options);
    assert_int_equal(site_call(site, "PUT", JOB "f1", body, &again), 200);
    assert_true(json_equal(first.json, again.json));
    answer_release(&again);
    answer_release(&first);
    site_refused(site, "PUT", JOB "f1", "{\"uid\":7,\"node_count\":2}", 409, "conflict", "profile");
    site_call(site, "PUT", JOB "f3", body, &again);
    assert_non_null(strstr(again.body, "there is no profile 'large' for jobs of elcap; there is "
                                       "none: leave it out"));
    site_expect_problem(&again, 422, "invalid", "profile");
}

/* A name that is misspelt is no cluster without jobs. */
static void cluster__that_is_not_configured_is_said_so(void **state)
{
    static const char *const paths[] = {"/v1/jobs?cluster=typo", "/v1/jobs?cluster=typo&uid=7",
                                        "/v1/clusters/typo/jobs/f1",
                                        "/v1/clusters/typo/jobs/f1/env"};
    struct answer answer;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        site_call(*state, "GET", paths[i], NULL, &answer);
        assert_non_null(strstr(answer.body, "no cluster \\\"typo\\\" is configured; there "));
        site_expect_problem(&answer, 404, "no-such-cluster", "cluster");
    }
    assert_int_equal(site_call(*state, "GET", "/v1/jobs?cluster=tuo", NULL, &answer), 200);
    assert_int_equal(json_array_size(json_object_get(answer.json, "jobs")), 0);
    answer_release(&answer);
}

/* Goes through all pages, as "next" says; returns the number of jobs. */
static size_t walk(struct site *site, const char *first, uint64_t *last)
{
    size_t jobs = 0;
    char path[256];
    snprintf(path, sizeof path, "%s", first);
    while (path[0]) {
        struct answer answer;
        size_t i;
        json_t *job;
        assert_int_equal(site_call(site, "GET", path, NULL, &answer), 200);
        json_array_foreach(json_object_get(answer.json, "jobs"), i, job)
        {
            uint64_t number = (uint64_t)json_integer_value(json_object_get(job, "number"));
            assert_true(number > *last);
            assert_null(json_object_get(job, "env")); /* a list holds no token */
            *last = number;
            jobs++;
        }
        snprintf(path, sizeof path, "%s", answer_text(&answer, "next"));
        answer_release(&answer);
    }
    return jobs;
}

static void list__goes_page_by_page(void **state)
{
    struct site *site = *state;
    struct line *line = site_line(site);
    for (int i = 0; i < 250; i++) {
        char path[64], body[64];
        snprintf(path, sizeof path, "/v1/clusters/%s/jobs/f%d", i % 5 ? "elcap" : "tuo", i);
        snprintf(body, sizeof body, "{\"uid\":%d,\"node_count\":1}", i % 2 + 10);
        assert_int_equal(site_ask(site, line, "PUT", path, NULL, body, NULL), 201);
    }
    assert_int_equal(site_ask(site, line, "DELETE", JOB "f1", NULL, NULL, NULL), 202);
    line_close(line);
    static const struct {
        const char *query;
        size_t jobs;
    } cases[] = {
        {"", 250},
        {"?limit=1000", 250},
        {"?limit=7", 250},
        {"?cluster=tuo&limit=7", 50},
        {"?uid=10&limit=20", 125},
        {"?uid=10&cluster=elcap", 100},
        {"?state=releasing", 1},
        {"?state=active&limit=100", 249},
        {"?uid=77", 0},
        {"?silent=no", 250},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[128];
        uint64_t last = 0;
        snprintf(path, sizeof path, "/v1/jobs%s", cases[i].query);
        assert_int_equal(walk(site, path, &last), cases[i].jobs);
    }
    uint64_t last = 200;
    assert_int_equal(walk(site, "/v1/jobs?after=200", &last), 50);
    static const char *const bad[][2] = {
        {"limit", "0"},        {"limit", "1001"}, {"limit", "x"},     {"after", "-1"},
        {"uid", "4294967295"}, {"state", "gone"}, {"cluster", "A-B"}, {"state", ""},
        {"node", ""},          {"node", "a%20b"}, {"silent", "yes"},  {"silent", ""}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char path[64];
        snprintf(path, sizeof path, "/v1/jobs?%s=%s", bad[i][0], bad[i][1]);
        site_refused(site, "GET", path, NULL, 422, "invalid", bad[i][0]);
    }
}

/* A job that was reserved in the very millisecond of a sync is not missed by it. */
static void sync__tells_what_it_found(void **state)
{
    enum { TRIES = 1000 };
    struct site *site = *state;
    struct answer answer;
    site_call(site, "PUT", JOB "f1", ONE_NODE, NULL);
    site_call(site, "PUT", JOB "f2", ONE_NODE, NULL);
    for (int i = 0; i < TRIES; i++) {
        assert_int_equal(site_call(site, "POST", "/v1/clusters/elcap/sync",
                                   "{\"active\":[\"f1\",\"f9\"]}", &answer),
                         200);
        if (answer_number(&answer, "suspect_count") > 0)
            break;
        answer_release(&answer);
    }
    assert_int_equal(answer_number(&answer, "active"), 2);
    assert_int_equal(answer_number(&answer, "confirmed"), 1);
    assert_int_equal(answer_number(&answer, "suspect_count"), 1);
    assert_int_equal(answer_number(&answer, "unknown_count"), 1);
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(answer.json, "suspect"), 0)), "f2");
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(answer.json, "unknown"), 0)), "f9");
    answer_release(&answer);
}

/* A body of many megabytes goes through a worker thread: the broker answers others meanwhile. */
static void sync__takes_very_many_ids(void **state)
{
    enum { IDS = 200000, ID_SIZE = 16 };
    struct site *site = *state;
    struct answer answer;
    char *body = malloc((size_t)IDS * ID_SIZE + 64);
    assert_non_null(body);
    size_t used = (size_t)sprintf(body, "{\"active\":[\"f1\"");
    for (int i = 1; i < IDS; i++)
        used += (size_t)sprintf(body + used, ",\"g%07d\"", i);
    strcpy(body + used, "]}");
    site_call(site, "PUT", JOB "f1", ONE_NODE, NULL);
    struct line *line = site_line(site);
    assert_int_equal(line_request(line, "POST", "/v1/clusters/elcap/sync", NULL, body), 0);
    assert_int_equal(site_call(site, "GET", "/healthz", NULL, NULL), 200);
    assert_int_equal(line_answer(line, false, &answer), 0);
    assert_int_equal(answer.status, 200);
    assert_int_equal(answer_number(&answer, "active"), IDS);
    assert_int_equal(answer_number(&answer, "confirmed"), 1);
    assert_int_equal(answer_number(&answer, "unknown_count"), IDS - 1);
    assert_int_equal(json_array_size(json_object_get(answer.json, "unknown")), 1000);
    answer_release(&answer);
    body[used] = 'x'; /* bad at its very end */
    assert_int_equal(site_ask(site, line, "POST", "/v1/clusters/elcap/sync", NULL, body, &answer),
                     400);
    site_expect_problem(&answer, 400, "bad-json", NULL);
    line_close(line);
    free(body);
}

static void status__counts(void **state)
{
    struct site *site = *state;
    struct answer answer;
    site_call(site, "PUT", JOB "f1", "{\"uid\":1,\"node_count\":1,\"vni_count\":3}", NULL);
    site_call(site, "PUT", JOB "f2", "{\"uid\":1,\"node_count\":1,\"vni_count\":1}", NULL);
    site_call(site, "DELETE", JOB "f2", NULL, NULL);
    assert_int_equal(site_call(site, "GET", "/v1/status", NULL, &answer), 200);
    assert_int_equal(answer_number(&answer, "vnis.live"), 3);
    assert_int_equal(answer_number(&answer, "vnis.held"), 1);
    assert_int_equal(answer_number(&answer, "vnis.free"), answer_number(&answer, "vnis.pool") - 4);
    assert_int_equal(answer_number(&answer, "jobs.active"), 1);
    assert_int_equal(answer_number(&answer, "jobs.releasing"), 1);
    answer_release(&answer);
    assert_int_equal(site_call(site, "GET", "/readyz", NULL, &answer), 200);
    assert_string_equal(answer_text(&answer, "fabric_manager"), "down");
    answer_release(&answer);
}

/* Scrapes until the connections of earlier requests are closed, and this one is the only one. */
static bool is_alone(void *arg)
{
    static const char alone[] = "\nmcastd_http_connections{door=\"unix\"} 1\n";
    struct answer answer;
    assert_int_equal(site_metrics(arg, &answer), 200);
    bool is = strstr(answer.body, alone);
    answer_release(&answer);
    return is;
}

static void metrics__count_requests_by_route_and_status(void **state)
{
    struct site *site = *state;
    struct answer answer;
    site_call(site, "PUT", JOB "f1", ONE_NODE, NULL);
    site_call(site, "PUT", JOB "f2", ONE_NODE, NULL);
    site_call(site, "GET", "/nowhere", NULL, NULL);
    assert_int_equal(site_metrics(site, &answer), 200);
    static const char *const lines[] = {
        ",route=\"/v1/clusters/{}/jobs/{}\",status=\"201\"} 2\n",
        "\nmcastd_http_requests_total{method=\"\",route=\"none\",status=\"404\"} 1\n",
        "\nmcastd_vnis{state=\"live\"} 2\n",
        "\nmcastd_fabric_manager_link{state=\"down\"} 1\n",
        "\nmcastd_fabric_manager_calls_total{kind=\"reserve\",outcome=\"ok\"} 0\n",
        "\nmcastd_storage_failing 0\n",
        "\nmcastd_role{role=\"leader\"} 1\n",
        "\n# TYPE mcastd_commits_total counter\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!strstr(answer.body, lines[i]))
            fail_msg("metrics lack %s:\n%s", lines[i], answer.body);
    answer_release(&answer);
    assert_true(await(is_alone, site, AWAIT_DEADLINE_MS));
}

/* The document and the program say the same: every path of it exists with just its methods. */
static void openapi__is_what_is_served(void **state)
{
    struct site *site = *state;
    const char *template, *method;
    json_t *item, *operation;
    json_object_foreach(json_object_get(site_contract(site), "paths"), template, item)
    {
        char path[128], allow[64], expected[64] = "";
        struct answer answer;
        size_t used = 0;
        for (const char *at = template; *at; at++) {
            path[used++] = *at == '{' ? 'x' : *at;
            if (*at == '{')
                at += strcspn(at, "}");
        }
        path[used] = '\0';
        static const char *const order[][2] = {
            {"get", "GET, HEAD"}, {"put", "PUT"}, {"post", "POST"}, {"delete", "DELETE"}};
        for (size_t i = 0; i < 4; i++)
            if (json_object_get(item, order[i][0]))
                sprintf(expected + strlen(expected), "%s%s", expected[0] ? ", " : "", order[i][1]);
        site_call(site, "PATCH", path, NULL, &answer);
        assert_true(answer_header(&answer, "Allow", allow, sizeof allow));
        assert_string_equal(allow, expected);
        site_expect_problem(&answer, 405, "method-not-allowed", NULL);
        json_object_foreach(item, method, operation)
        {
            json_t *codes = json_object_get(operation, "responses");
            assert_true(!json_is_object(operation) || json_object_size(codes) > 1);
        }
    }
}

/* Whether two who ask one after the other get one text: each text counts the requests before it. */
static bool is_shared(void *arg)
{
    struct answer first, second;
    assert_int_equal(site_metrics(arg, &first), 200);
    assert_int_equal(site_call(arg, "GET", "/metrics", NULL, &second), 200);
    const bool is =
        first.length == second.length && memcmp(first.body, second.body, first.length) == 0;
    answer_release(&first);
    answer_release(&second);
    return is;
}

static bool counts_both(void *arg)
{
    struct answer answer;
    assert_int_equal(site_call(arg, "GET", "/metrics", NULL, &answer), 200);
    const bool does = strstr(answer.body, "\nmcastd_jobs{state=\"active\"} 2\n");
    answer_release(&answer);
    return does;
}

/* Rendering takes the loop long: once a second is enough, whoever asks how often (B8). */
static void metrics__are_rendered_once_for_all(void **state)
{
    struct site *site = *state;
    assert_true(await(is_shared, site, AWAIT_DEADLINE_MS)); /* unless a second has passed between */
    site_call(site, "PUT", JOB "f1", ONE_NODE, NULL);
    site_call(site, "PUT", JOB "f2", ONE_NODE, NULL);
    assert_true(await(counts_both, site, AWAIT_DEADLINE_MS));
}

/* The first sample is taken a second after the start; how many reserves it counts is not known. */
static bool has_a_sample(void *arg)
{
    struct answer answer;
    assert_int_equal(site_call(arg, "GET", "/v1/history", NULL, &answer), 200);
    const bool has = json_array_size(json_object_get(answer.json, "samples")) > 0;
    answer_release(&answer);
    return has;
}

static void history__is_kept_by_the_broker(void **state)
{
    struct site *site = *state;
    struct answer answer;
    assert_true(await(has_a_sample, site, AWAIT_DEADLINE_MS));
    assert_int_equal(site_call(site, "GET", "/v1/history?after=32503680000000", NULL, &answer),
                     200);
    assert_int_equal(json_array_size(json_object_get(answer.json, "samples")), 0);
    answer_release(&answer);
    site_refused(site, "GET", "/v1/history?after=yesterday", NULL, 422, "invalid", "after");
}

static void head__is_get_without_a_body(void **state)
{
    static const char *const paths[] = {"/healthz", "/v1/status",         "/v1/jobs",
                                        "/metrics", "/openapi.json",      JOB "f1",
                                        JOB "none", "/v1/events?follow=0"};
    struct site *site = *state;
    struct line *line = site_line(site);
    site_call(site, "PUT", JOB "f1", ONE_NODE, NULL);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct answer get, head;
        site_ask(site, line, "HEAD", paths[i], NULL, NULL, &head);
        site_ask(site, line, "GET", paths[i], NULL, NULL, &get); /* a body would be in its way */
        assert_int_equal(head.status, get.status);
        answer_release(&head);
        answer_release(&get);
    }
    line_close(line);
}

/* F4: fatal for the job, and its words say how many there are. */
static void pool__exhausted_is_503_with_retry_after(void **state)
{
    struct site *site = *state;
    struct answer answer;
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .vni = "pool = 2000-2004"});
    assert_int_equal(
        site_call(site, "PUT", JOB "f1", "{\"uid\":1,\"node_count\":1,\"vni_count\":3}", NULL),
        201);
    assert_int_equal(
        site_call(site, "PUT", JOB "f2", "{\"uid\":1,\"node_count\":1,\"vni_count\":4}", &answer),
        503);
    assert_non_null(
        strstr(answer_text(&answer, "detail"), "failed to reserve 4 VNIs (2 available)"));
    site_expect_problem(&answer, 503, "vnis-exhausted", "vni_count");
    assert_int_equal(site_call(site, "GET", JOB "f2", NULL, NULL), 404);
}

/* Of a broker without a fabric manager: what a file tells (S2). */
static void nodes__are_shown_as_the_file_has_them(void **state)
{
    struct answer answer;
    struct site *site = *state;
    site_restart(site, &(struct site_options){.mcastd = MCASTD,
                                              .genders = "n1 nic0=0x42,nic1=0x43\nn2 nic0=0x42\n"});
    assert_int_equal(site_call(site, "GET", "/v1/fabric", NULL, &answer), 200);
    assert_string_equal(answer_text(&answer, "source"), "file");
    assert_int_equal(answer_number(&answer, "nodes_in_file"), 2);
    answer_release(&answer);
    assert_int_equal(site_call(site, "GET", "/v1/nodes/n1", NULL, &answer), 200);
    json_t *nic = json_array_get(json_object_get(answer.json, "nics"), 0);
    assert_string_equal(json_string_value(json_object_get(nic, "port")), "g0s1p2");
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(nic, "contradictions"), 0)),
        "address-shared");
    answer_release(&answer);
    assert_int_equal(site_call(site, "GET", "/v1/nodes?limit=1", NULL, &answer), 200);
    assert_string_equal(answer_text(&answer, "next"), "/v1/nodes?limit=1&after=n1");
    answer_release(&answer);
    site_refused(site, "GET", "/v1/nodes/n3", NULL, 404, "not-found", NULL);
    /* What the node itself reports counts for more, and the contradiction stays (P2). */
    assert_int_equal(site_call(site, "PUT", "/v1/nodes/n1/inventory",
                               "{\"order\":1,\"nics\":[{\"device\":\"cxi0\",\"address\":68,"
                               "\"link\":\"up\"}]}",
                               NULL),
                     200);
    assert_int_equal(site_call(site, "GET", "/v1/nodes/n1", NULL, &answer), 200);
    nic = json_array_get(json_object_get(answer.json, "nics"), 0);
    assert_string_equal(json_string_value(json_object_get(nic, "source")), "node");
    assert_string_equal(json_string_value(json_object_get(nic, "address")), "0x00044");
    assert_string_equal(json_string_value(json_object_get(nic, "file_address")), "0x00042");
    assert_string_equal(json_string_value(json_object_get(nic, "state")), "up");
    answer_release(&answer);
    site_refused(site, "GET", "/v1/nodes?limit=0", NULL, 422, "invalid", "limit");
    site_refused(site, "GET", "/v1/nodes?cluster=elcap&after=x", NULL, 422, "invalid", "after");
    site_refused(site, "GET", "/v1/nodes?cluster=nix", NULL, 404, "no-such-cluster", "cluster");
    assert_int_equal(site_call(site, "PUT", JOB "f1", "{\"uid\":1,\"nodes\":\"n[1-3]\"}", NULL),
                     201);
    assert_int_equal(site_call(site, "GET", JOB "f1/topology", NULL, &answer), 200);
    assert_int_equal(answer_number(&answer, "groups"), 1);
    assert_string_equal(answer_text(&answer, "nodes_without_address"), "n3");
    assert_null(json_object_get(answer.json, "node_addresses"));
    answer_release(&answer);
    assert_int_equal(site_call(site, "GET", JOB "f1/topology?addresses=yes", NULL, &answer), 200);
    assert_string_equal(answer_text(&answer, "node_addresses"), "n1=0x00044,0x00043;n2=0x00042");
    answer_release(&answer);
    site_refused(site, "GET", JOB "f1/topology?addresses=x", NULL, 422, "invalid", "addresses");
    /* A node that is no more; the file still names it. */
    assert_int_equal(site_call(site, "DELETE", "/v1/nodes/n1", NULL, NULL), 200);
    site_refused(site, "DELETE", "/v1/nodes/n1", NULL, 404, "not-found", NULL);
    site_refused(site, "GET", "/v1/nodes/n1/inventory", NULL, 404, "not-found", NULL);
    assert_int_equal(site_call(site, "GET", "/v1/nodes/n1", NULL, &answer), 200);
    nic = json_array_get(json_object_get(answer.json, "nics"), 0);
    assert_string_equal(json_string_value(json_object_get(nic, "source")), "file");
    answer_release(&answer);
    site_refused(site, "GET", "/v1/events?kind=lost,nix", NULL, 422, "invalid", "kind");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_SITE(reserve__answers_the_same_again),
        ON_SITE(release__is_answered_at_once_and_again),
        ON_SITE(release__of_a_number_is_of_that_life),
        ON_SITE(release__takes_an_expected_empty_chunked_body),
        ON_SITE(env__comes_as_asked_for),
        ON_SITE(options__are_what_a_reserve_accepts),
        ON_SITE(profile__stays_what_it_was_for_its_job),
        ON_SITE(cluster__that_is_not_configured_is_said_so),
        ON_SITE(list__goes_page_by_page),
        ON_SITE(sync__tells_what_it_found),
        ON_SITE(sync__takes_very_many_ids),
        ON_SITE(nodes__are_shown_as_the_file_has_them),
        ON_SITE(status__counts),
        ON_SITE(metrics__are_rendered_once_for_all),
        ON_SITE(metrics__count_requests_by_route_and_status),
        ON_SITE(openapi__is_what_is_served),
        ON_SITE(history__is_kept_by_the_broker),
        ON_SITE(head__is_get_without_a_body),
        ON_SITE(pool__exhausted_is_503_with_retry_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
