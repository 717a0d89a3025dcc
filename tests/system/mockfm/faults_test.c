/* SPDX-License-Identifier: Apache-2.0 */
/* Each fault does what it says, seen from the client's end of the connection. */
#include <sys/socket.h>

#include "tests/system/mockfm/mockfm.h"
#include "tests/system/mockfm/httpclient.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

#define RESERVE "{\"jobID\":\"c-1\",\"mcastLimit\":1}"

static int post_job(const struct mockfm_fm *fm, struct rawhttp_reply *reply)
{
    return rawhttp_once(fm->port, "POST", DOUBLE_JOBS, DOUBLE_LOGIN, RESERVE, reply);
}

static int get_list(const struct mockfm_fm *fm, struct rawhttp_reply *reply)
{
    return rawhttp_once(fm->port, "GET", DOUBLE_JOBS "/", DOUBLE_LOGIN, NULL, reply);
}

static bool holds_c_1(void *arg)
{
    return mockfm_holds(arg, "c-1");
}

static void status__replaces_the_act_unless_told_otherwise(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;

    mockfm_fault(fm, "{\"method\":\"POST\",\"count\":1,\"status\":503}");
    assert_int_equal(post_job(fm, &reply), 503);
    assert_true(json_is_string(json_object_get(reply.json, "message")));
    assert_true(json_is_string(json_object_get(reply.json, "detail")));
    rawhttp_release(&reply);
    assert_false(mockfm_holds(fm, "c-1"));
    /* Used up: the next one succeeds. */
    assert_int_equal(post_job(fm, NULL), 201);
    assert_int_equal(rawhttp_once(fm->port, "DELETE", DOUBLE_JOBS "/c-1", DOUBLE_LOGIN, NULL, NULL),
                     200);
    mockfm_fault(fm, "{\"method\":\"POST\",\"status\":504,\"act\":true,\"body\":{\"late\":1}}");
    assert_int_equal(post_job(fm, &reply), 504);
    assert_string_equal(reply.body, "{\"late\":1}");
    rawhttp_release(&reply);
    assert_true(mockfm_holds(fm, "c-1"));
}

static void drop__before_does_nothing_after_does_it(void **state)
{
    struct mockfm_fm *fm = *state;

    mockfm_fault(fm, "{\"method\":\"POST\",\"drop\":\"before\"}");
    assert_int_equal(post_job(fm, NULL), 0);
    assert_false(mockfm_holds(fm, "c-1"));
    mockfm_fault(fm, "{\"method\":\"POST\",\"drop\":\"after\"}");
    assert_int_equal(post_job(fm, NULL), 0);
    assert_true(mockfm_holds(fm, "c-1"));
}

/* F21: the client has given up and gone, and still gets its reservation. */
static void act_after__succeeds_when_the_client_is_gone(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp http;

    mockfm_fault(fm, "{\"method\":\"POST\",\"act_after_ms\":300}");
    rawhttp_open(&http, fm->port);
    rawhttp_ask(&http, "POST", DOUBLE_JOBS, DOUBLE_LOGIN, RESERVE);
    while (mockfm_log_total(fm, "requests") < 1)
        ;
    rawhttp_close(&http);
    assert_true(await(holds_c_1, fm, AWAIT_DEADLINE_MS));
}

static void act_after__is_answered_when_the_client_waits(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;

    mockfm_fault(fm, "{\"method\":\"POST\",\"act_after_ms\":20,\"delay_ms\":20}");
    assert_int_equal(post_job(fm, &reply), 201);
    assert_true(json_is_string(json_object_get(reply.json, "sessionToken")));
    rawhttp_release(&reply);
}

/* Acts at once, answers an hour later: and others are served in the meantime. */
static void delay__holds_up_nobody_else(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp http;

    mockfm_fault(fm, "{\"method\":\"POST\",\"delay_ms\":3600000}");
    rawhttp_open(&http, fm->port);
    rawhttp_ask(&http, "POST", DOUBLE_JOBS, DOUBLE_LOGIN, RESERVE);
    assert_true(await(holds_c_1, fm, AWAIT_DEADLINE_MS));
    assert_int_equal(get_list(fm, NULL), 200);
    rawhttp_close(&http);
    assert_int_equal(get_list(fm, NULL), 200);
}

static void truncate__breaks_off_within_the_body(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;

    mockfm_fault(fm, "{\"method\":\"GET\",\"truncate\":true}");
    assert_int_equal(get_list(fm, &reply), 200);
    assert_true(reply.body_length > 0);
    assert_true(reply.body_length < reply.content_length);
    rawhttp_release(&reply);
}

static void garbage__is_not_json(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;

    mockfm_fault(fm, "{\"garbage\":true}");
    assert_int_equal(get_list(fm, &reply), 200);
    assert_true(reply.body_length > 0);
    assert_int_equal(reply.body_length, reply.content_length);
    assert_null(reply.json);
    rawhttp_release(&reply);
}

static void fields__are_taken_away(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;
    char bearer[128], body[256];

    mockfm_fault(fm,
                 "[{\"method\":\"GET\",\"path\":\"*/jobs/\",\"no_document_links\":true},"
                 "{\"method\":\"POST\",\"path\":\"*/jobs\",\"no_session_token\":true,\"count\":1},"
                 "{\"path\":\"*/multicasts\",\"short_hw_root\":true,\"count\":1},"
                 "{\"path\":\"*/multicasts\",\"no_hw_root\":true}]");
    assert_int_equal(get_list(fm, &reply), 200);
    assert_true(json_is_object(reply.json));
    assert_null(json_object_get(reply.json, "documentLinks"));
    rawhttp_release(&reply);
    assert_int_equal(post_job(fm, &reply), 201);
    assert_null(json_object_get(reply.json, "sessionToken"));
    rawhttp_release(&reply);
    mockfm_reserve(fm, "c-2", 2, bearer);
    mockfm_tree(body, "c-2", "0", 0x10);
    assert_int_equal(rawhttp_once(fm->port, "POST", DOUBLE_TREES, bearer, body, &reply), 201);
    assert_string_equal(json_string_value(json_object_get(reply.json, "hwRoot")), "01:12:10");
    rawhttp_release(&reply);
    assert_int_equal(rawhttp_once(fm->port, "POST", DOUBLE_TREES, bearer, body, &reply), 201);
    assert_null(json_object_get(reply.json, "hwRoot"));
    assert_true(json_is_integer(json_object_get(reply.json, "mcastID")));
    rawhttp_release(&reply);
}

static void patch_no_body__is_a_bare_200(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;
    char bearer[128];

    mockfm_reserve(fm, "c-1", 1, bearer);
    mockfm_fault(fm, "{\"patch_no_body\":true}");
    assert_int_equal(rawhttp_once(fm->port, "PATCH", DOUBLE_JOBS "/c-1", bearer,
                                  "{\"jobSteps\":{\"0\":null}}", &reply),
                     200);
    assert_int_equal(reply.content_length, 0);
    rawhttp_release(&reply);
}

static void length_4096__is_a_multiple(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;

    mockfm_fault(fm, "{\"length_4096\":true}");
    assert_int_equal(get_list(fm, &reply), 200);
    assert_int_equal(reply.content_length, 4096);
    assert_true(json_is_object(reply.json));
    rawhttp_release(&reply);
}

/* The pages that follow are pages too, without a rule for them; here the second one fails. */
static void page_size__cuts_the_list(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;
    char bearer[128], next[128];

    mockfm_reserve(fm, "c-1", 1, bearer);
    mockfm_reserve(fm, "c-2", 1, bearer);
    mockfm_reserve(fm, "c-3", 1, bearer);
    mockfm_fault(fm, "[{\"path\":\"*/jobs*\",\"page_size\":2,\"count\":1},"
                     "{\"path\":\"*/jobs*\",\"status\":500,\"count\":1}]");
    assert_int_equal(get_list(fm, &reply), 200);
    assert_int_equal(json_array_size(json_object_get(reply.json, "documentLinks")), 2);
    snprintf(next, sizeof next, "%s",
             json_string_value(json_object_get(reply.json, "nextPageLink")));
    rawhttp_release(&reply);
    assert_int_equal(rawhttp_once(fm->port, "GET", next, DOUBLE_LOGIN, NULL, NULL), 500);
    assert_int_equal(rawhttp_once(fm->port, "GET", next, DOUBLE_LOGIN, NULL, &reply), 200);
    assert_int_equal(json_array_size(json_object_get(reply.json, "documentLinks")), 1);
    assert_null(json_object_get(reply.json, "nextPageLink"));
    rawhttp_release(&reply);
}

/* 429 with its Retry-After. */
static void headers__are_added(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;

    mockfm_fault(fm, "{\"status\":429,\"headers\":{\"Retry-After\":\"7\",\"Content-Type\":"
                     "\"text/html\"},\"body\":\"<html>\"}");
    assert_int_equal(get_list(fm, &reply), 429);
    assert_non_null(strstr(reply.head, "\r\nRetry-After: 7\r\n"));
    assert_non_null(strstr(reply.head, "\r\nContent-Type: text/html\r\n"));
    assert_null(strstr(reply.head, "application/json"));
    assert_string_equal(reply.body, "<html>");
    rawhttp_release(&reply);
}

/* The wrong type in a reservation that was made nevertheless. */
static void merge__bends_an_answer_of_an_act(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;

    mockfm_fault(fm, "{\"method\":\"POST\",\"merge\":{\"sessionToken\":12,\"jobSteps\":null}}");
    assert_int_equal(post_job(fm, &reply), 201);
    assert_int_equal(json_integer_value(json_object_get(reply.json, "sessionToken")), 12);
    assert_null(json_object_get(reply.json, "jobSteps"));
    assert_string_equal(json_string_value(json_object_get(reply.json, "jobID")), "c-1");
    rawhttp_release(&reply);
    assert_true(mockfm_holds(fm, "c-1"));
}

/* Oversized; with the length announced and without. */
static void fill_to__makes_it_large(void **state)
{
    struct mockfm_fm *fm = *state;
    struct httpclient httpclient;
    struct httpclient_reply reply;

    httpclient_create(&httpclient, "http", fm->port);
    httpclient.basic = "cxi:fm-passw0rd";
    mockfm_fault(fm, "[{\"count\":1,\"fill_to\":5000000},{\"fill_to\":5000000,\"chunked\":true}]");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(httpclient_call(&httpclient, "GET", DOUBLE_JOBS "/", NULL, &reply), 200);
        assert_int_equal(reply.code, CURLE_OK);
        assert_int_equal(reply.length, 5000000);
        assert_true(json_is_array(json_object_get(reply.json, "documentLinks")));
        assert_int_equal(reply.announced, i == 0 ? 5000000 : -1);
        httpclient_reply_release(&reply);
    }
    httpclient_destroy(&httpclient);
}

/* The head comes, the body dribbles; it is whole in the end, or half, or without a length. */
static void byte_every_ms__dribbles(void **state)
{
    static const struct {
        const char *rule;
        CURLcode code;
        curl_off_t announced;
        size_t length;
    } cases[] = {
        {"{\"byte_every_ms\":3,\"body\":\"0123456789\"}", CURLE_OK, 10, 10},
        {"{\"byte_every_ms\":3,\"body\":\"0123456789\",\"chunked\":true}", CURLE_OK, -1, 10},
        {"{\"byte_every_ms\":3,\"body\":\"0123456789\",\"truncate\":true}", CURLE_PARTIAL_FILE, 10,
         5},
    };
    enum { LEAST_NS = 2000000 };
    struct mockfm_fm *fm = *state;
    struct httpclient httpclient;
    struct httpclient_reply reply;

    httpclient_create(&httpclient, "http", fm->port);
    httpclient.basic = "cxi:fm-passw0rd";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t before = await_now_ns();

        mockfm_fault(fm, cases[i].rule);
        assert_int_equal(httpclient_call(&httpclient, "GET", DOUBLE_JOBS "/", NULL, &reply), 200);
        assert_int_equal(reply.code, cases[i].code);
        assert_int_equal(reply.announced, cases[i].announced);
        assert_int_equal(reply.length, cases[i].length);
        assert_memory_equal(reply.text, "0123456789", reply.length);
        httpclient_reply_release(&reply);
        /* A timer may be late, but no millisecond early: this holds on every machine. */
        assert_true(await_now_ns() - before >= (int64_t)cases[i].length * LEAST_NS);
    }
    httpclient_destroy(&httpclient);
}

/* An hour to the next byte: one client goes, one stays until the end of the program. */
static void byte_every_ms__holds_up_nobody_and_no_end(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp gone, stays;
    char byte;

    mockfm_fault(fm, "{\"method\":\"GET\",\"byte_every_ms\":3600000}");
    rawhttp_open(&gone, fm->port);
    rawhttp_ask(&gone, "GET", DOUBLE_JOBS "/", DOUBLE_LOGIN, NULL);
    assert_int_equal(recv(gone.fd, &byte, 1, 0), 1); /* the head */
    rawhttp_close(&gone);
    rawhttp_open(&stays, fm->port);
    rawhttp_ask(&stays, "GET", DOUBLE_JOBS "/", DOUBLE_LOGIN, NULL);
    assert_int_equal(recv(stays.fd, &byte, 1, 0), 1);
    assert_int_equal(post_job(fm, NULL), 201);
    mockfm_stop(fm);
    rawhttp_close(&stays);
}

/* A list that fails half way, by a page that breaks off. */
static void page__breaks_off(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;
    char bearer[128], next[128];

    mockfm_reserve(fm, "c-1", 1, bearer);
    mockfm_reserve(fm, "c-2", 1, bearer);
    mockfm_reserve(fm, "c-3", 1, bearer);
    mockfm_fault(fm, "[{\"path\":\"*/jobs*\",\"page_size\":1,\"count\":1},"
                     "{\"path\":\"*/jobs*\",\"skip\":1,\"count\":1,\"truncate\":true}]");
    assert_int_equal(get_list(fm, &reply), 200);
    for (int page = 2; page <= 3; page++) {
        snprintf(next, sizeof next, "%s",
                 json_string_value(json_object_get(reply.json, "nextPageLink")));
        rawhttp_release(&reply);
        assert_int_equal(rawhttp_once(fm->port, "GET", next, DOUBLE_LOGIN, NULL, &reply), 200);
        assert_int_equal(reply.body_length < reply.content_length, page == 3);
    }
    rawhttp_release(&reply);
}

static void control__is_never_disturbed(void **state)
{
    static const char *const options[] = {"--latency", "3600000", NULL};
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;

    mockfm_start(fm, options);
    mockfm_fault(fm, "{\"drop\":\"before\"}");
    assert_int_equal(rawhttp_once(fm->port, "GET", "/mock/faults", NULL, NULL, &reply), 200);
    assert_int_equal(json_array_size(json_object_get(reply.json, "faults")), 1);
    rawhttp_release(&reply);
    assert_int_equal(rawhttp_once(fm->port, "POST", "/mock/faults", NULL, "{\"x\":1}", NULL), 400);
    assert_int_equal(rawhttp_once(fm->port, "POST", "/mock/faults", NULL, "{", NULL), 400);
    assert_int_equal(rawhttp_once(fm->port, "GET", "/mock/nothing", NULL, NULL, NULL), 404);
    assert_int_equal(mockfm_log_total(fm, "requests"), 0);
}

UNIT_MAIN(RUNNING(status__replaces_the_act_unless_told_otherwise),
          RUNNING(drop__before_does_nothing_after_does_it),
          RUNNING(act_after__succeeds_when_the_client_is_gone),
          RUNNING(act_after__is_answered_when_the_client_waits),
          RUNNING(delay__holds_up_nobody_else), RUNNING(truncate__breaks_off_within_the_body),
          RUNNING(garbage__is_not_json), RUNNING(fields__are_taken_away),
          RUNNING(patch_no_body__is_a_bare_200), RUNNING(length_4096__is_a_multiple),
          RUNNING(page_size__cuts_the_list), RUNNING(headers__are_added),
          RUNNING(merge__bends_an_answer_of_an_act), RUNNING(fill_to__makes_it_large),
          RUNNING(byte_every_ms__dribbles), RUNNING(byte_every_ms__holds_up_nobody_and_no_end),
          RUNNING(page__breaks_off), STOPPED(control__is_never_disturbed))
