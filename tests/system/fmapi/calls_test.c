/* SPDX-License-Identifier: Apache-2.0 */

#include <time.h>

#include "tests/system/fmapi/apiclient.h"
#include "tests/system/fmapi/scriptedserver.h"
#include "tests/unit/unit.h"

/* A fabric manager at its best behaviour. */
static void be_good(void *arg, const struct scriptedserver_request *request,
                    struct scriptedserver_answer *answer)
{
    if (strcmp(request->method, "POST") == 0) {
        answer->status = 201;
        answer->body = scriptedserver_text("{\"sessionToken\":\"tok-%u\"}", request->number);
    } else if (strcmp(request->method, "GET") == 0) {
        answer->body = scriptedserver_text("{\"sessionToken\":\"tok-again\",\"jobSteps\":{}}");
    } else {
        answer->body = scriptedserver_text("{}");
    }
}

static void call__carries_the_three_kinds(void **state)
{
    struct scriptedserver *scriptedserver =
        scriptedserver_create(&(struct scriptedserver_options){.script = be_good});
    struct fmapi_options options = apiclient_options(scriptedserver_url(scriptedserver));
    struct apiclient apiclient;
    apiclient_init(&apiclient, &options);

    struct landing reserve = apiclient_call(&apiclient, FMCALL_RESERVE, "c-1");
    assert_int_equal(reserve.outcome, FM_OK);
    assert_int_equal(reserve.status, 201);
    assert_string_equal(reserve.token, "tok-1");
    assert_string_equal(reserve.words, "HTTP 201");
    assert_true(reserve.took_us >= 0);

    struct landing check = apiclient_call(&apiclient, FMCALL_CHECK, "c-1");
    assert_int_equal(check.outcome, FM_OK);
    assert_string_equal(check.token, "tok-again");

    struct landing release = apiclient_call(&apiclient, FMCALL_RELEASE, "c-1");
    assert_int_equal(release.outcome, FM_OK);
    assert_false(release.has_token);

    struct fmapi_counters counters;
    fmapi_counters(apiclient.api, &counters);
    assert_int_equal(counters.calls, 3);
    assert_int_equal(counters.connections, 1);
    assert_int_equal(counters.in_flight, 0);
    assert_true(counters.bytes_in > 3 * 60 && counters.bytes_out > 3 * 60);

    apiclient_release(&apiclient);
    scriptedserver_destroy(scriptedserver);
}

struct heard {
    char heads[3][1024];
    char bodies[3][256];
};

static void hear(void *arg, const struct scriptedserver_request *request,
                 struct scriptedserver_answer *answer)
{
    struct heard *heard = arg;
    if (request->number <= 3) {
        (void)snprintf(heard->heads[request->number - 1], 1024, "%s", request->head);
        (void)snprintf(heard->bodies[request->number - 1], 256, "%s", request->body);
    }
    be_good(NULL, request, answer);
}

/* Strict in what we send: fabric-manager.md, "Jobs". */
static void call__sends_just_what_is_needed(void **state)
{
    struct heard heard = {0};
    struct scriptedserver *scriptedserver =
        scriptedserver_create(&(struct scriptedserver_options){.script = hear, .arg = &heard});
    char base[128];
    (void)snprintf(base, sizeof base, "%s/apis/fabric-manager", scriptedserver_url(scriptedserver));
    struct fmapi_options options = apiclient_options(base);
    struct apiclient apiclient;
    apiclient_init(&apiclient, &options);

    (void)apiclient_call(&apiclient, FMCALL_RESERVE, "c-1");
    (void)apiclient_call(&apiclient, FMCALL_CHECK, "c-1");
    (void)apiclient_call(&apiclient, FMCALL_RELEASE, "c-f:1");

    static const char *const begins[] = {
        "POST /apis/fabric-manager/fabric/collectives/jobs HTTP/1.1\r\n",
        "GET /apis/fabric-manager/fabric/collectives/jobs/c-1 HTTP/1.1\r\n",
        "DELETE /apis/fabric-manager/fabric/collectives/jobs/c-f%3A1 HTTP/1.1\r\n"};
    for (size_t i = 0; i < 3; i++) {
        assert_memory_equal(heard.heads[i], begins[i], strlen(begins[i]));
        assert_non_null(strstr(heard.heads[i], "\r\nAccept: application/json\r\n"));
        assert_non_null(strstr(heard.heads[i], "\r\nUser-Agent: mcastd/"));
        assert_null(strcasestr(heard.heads[i], "\r\nExpect:"));
        assert_null(strcasestr(heard.heads[i], "\r\nTransfer-Encoding:"));
        assert_null(strcasestr(heard.heads[i], "\r\nAuthorization:"));
    }
    assert_non_null(strstr(heard.heads[0], "\r\nContent-Type: application/json\r\n"));
    assert_null(strcasestr(heard.heads[1], "\r\nContent-"));
    assert_null(strcasestr(heard.heads[2], "\r\nContent-"));
    assert_string_equal(heard.bodies[0], "{\"jobID\":\"c-1\",\"mcastLimit\":23}");

    apiclient_release(&apiclient);
    scriptedserver_destroy(scriptedserver);
}

/* libcurl adds "Expect: 100-continue" to bodies beyond 1 MiB, and then waits for a second. */
static void call__expects_nothing_of_a_large_body(void **state)
{
    struct heard heard = {0};
    struct scriptedserver *scriptedserver =
        scriptedserver_create(&(struct scriptedserver_options){.script = hear, .arg = &heard});
    struct fmapi_options options = apiclient_options(scriptedserver_url(scriptedserver));
    struct apiclient apiclient;
    size_t length = (1 << 20) + 1;
    char *name = malloc(length + 1);
    assert_non_null(name);
    memset(name, 'n', length);
    name[length] = '\0';
    apiclient_init(&apiclient, &options);

    assert_int_equal(apiclient_call(&apiclient, FMCALL_RESERVE, name).outcome, FM_OK);
    assert_non_null(strcasestr(heard.heads[0], "\r\nContent-Length: 10486"));
    assert_null(strcasestr(heard.heads[0], "\r\nExpect:"));

    apiclient_release(&apiclient);
    scriptedserver_destroy(scriptedserver);
    free(name);
}

/* G8: connections are kept. */
static void call__keeps_its_connection(void **state)
{
    struct scriptedserver *scriptedserver =
        scriptedserver_create(&(struct scriptedserver_options){.script = be_good});
    struct fmapi_options options = apiclient_options(scriptedserver_url(scriptedserver));
    struct apiclient apiclient;
    apiclient_init(&apiclient, &options);

    static const enum fmcall_kind kinds[] = {FMCALL_RESERVE, FMCALL_CHECK, FMCALL_RELEASE};
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(apiclient_call(&apiclient, kinds[i % 3], "c-1").outcome, FM_OK);
    assert_int_equal(scriptedserver_requests(scriptedserver), 1000);
    assert_int_equal(scriptedserver_connections(scriptedserver), 1);

    struct fmapi_counters counters;
    fmapi_counters(apiclient.api, &counters);
    assert_int_equal(counters.calls, 1000);
    assert_int_equal(counters.connections, 1);

    apiclient_release(&apiclient);
    scriptedserver_destroy(scriptedserver);
}

/* As many at once as allowed (the puppet answers nobody before four have come), and never more. */
static void call__runs_in_parallel_within_bounds(void **state)
{
    enum { CALLS = 64 };
    struct scriptedserver *scriptedserver =
        scriptedserver_create(&(struct scriptedserver_options){.script = be_good, .gathering = 4});
    struct fmapi_options options = apiclient_options(scriptedserver_url(scriptedserver));
    struct landing landings[CALLS] = {0};
    struct fmapi_counters counters;
    struct apiclient apiclient;
    apiclient_init(&apiclient, &options);

    for (size_t round = 0; round < 2; round++) {
        memset(landings, 0, sizeof landings);
        for (size_t i = 0; i < CALLS; i++)
            apiclient_start(&apiclient, FMCALL_RESERVE, "c-1", &landings[i]);
        fmapi_counters(apiclient.api, &counters);
        assert_int_equal(counters.in_flight, CALLS);
        for (size_t i = 0; i < CALLS; i++) {
            apiclient_await(&apiclient, &landings[i]);
            assert_int_equal(landings[i].outcome, FM_OK);
        }
    }
    assert_int_equal(scriptedserver_most_open(scriptedserver), 4);
    assert_int_equal(scriptedserver_connections(scriptedserver), 4);
    fmapi_counters(apiclient.api, &counters);
    assert_int_equal(counters.in_flight, 0);
    assert_int_equal(counters.connections, 4);

    apiclient_release(&apiclient);
    scriptedserver_destroy(scriptedserver);
}

struct chain {
    struct apiclient *apiclient;
    unsigned left;
    struct landing last;
};

static void on_link(void *arg, const struct fmapi_reply *reply)
{
    struct chain *chain = arg;
    assert_int_equal(reply->outcome, FM_OK);
    if (--chain->left > 0)
        fmapi_call(chain->apiclient->api, FMCALL_RELEASE,
                   &(struct fmcall_about){.name = "c-1", .addresses = 0}, on_link, chain);
    else
        apiclient_land(&chain->last, reply);
}

static void call__can_be_started_from_an_answer(void **state)
{
    struct scriptedserver *scriptedserver =
        scriptedserver_create(&(struct scriptedserver_options){.script = be_good});
    struct fmapi_options options = apiclient_options(scriptedserver_url(scriptedserver));
    struct apiclient apiclient;
    apiclient_init(&apiclient, &options);

    struct chain chain = {.apiclient = &apiclient, .left = 50};
    fmapi_call(apiclient.api, FMCALL_RELEASE, &(struct fmcall_about){.name = "c-1", .addresses = 0},
               on_link, &chain);
    apiclient_await(&apiclient, &chain.last);
    assert_int_equal(scriptedserver_requests(scriptedserver), 50);
    assert_int_equal(scriptedserver_connections(scriptedserver), 1);

    apiclient_release(&apiclient);
    scriptedserver_destroy(scriptedserver);
}

static void create__says_what_is_wrong(void **state)
{
    uv_loop_t loop;
    assert_int_equal(uv_loop_init(&loop), 0);
    struct fmapi_options good = apiclient_options("http://127.0.0.1:1");
    struct fmapi_options rows[] = {good, good};
    rows[0].urls[0] = "fmn:8000";
    rows[1].urls[0] = "https://cxi:secret@fmn";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct error err = {0};
        assert_null(fmapi_create(&loop, &rows[i], &err));
        assert_int_equal(err.code, ERROR_INVALID);
        assert_true(strlen(err.text) > 10);
    }
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void destroy__takes_nothing(void **state)
{
    fmapi_destroy(NULL, NULL, NULL);
}

/* Its clock an hour ahead; the Date is made by hand, for a proxy may send any. */
static void tell_time(void *arg, const struct scriptedserver_request *request,
                      struct scriptedserver_answer *answer)
{
    be_good(NULL, request, answer);
    answer->header = arg;
}

static int64_t skew_by(char *date)
{
    struct scriptedserver *scriptedserver =
        scriptedserver_create(&(struct scriptedserver_options){.script = tell_time, .arg = date});
    struct fmapi_options options = apiclient_options(scriptedserver_url(scriptedserver));
    struct apiclient apiclient;
    apiclient_init(&apiclient, &options);
    (void)apiclient_call(&apiclient, FMCALL_RELEASE, "c-1");
    int64_t skew = apiclient_counters(&apiclient).date_skew_ms;
    apiclient_release(&apiclient);
    scriptedserver_destroy(scriptedserver);
    return skew;
}

static void call__sees_the_other_clock(void **state)
{
    char date[64];
    time_t before = time(NULL);
    time_t theirs = before + 3600;
    (void)strftime(date, sizeof date, "Date: %a, %d %b %Y %H:%M:%S GMT", gmtime(&theirs));
    int64_t skew = skew_by(date);
    /* time() may be a tick of the kernel's coarse clock behind, and so a second. */
    int64_t took = (time(NULL) - before + 2) * 1000;
    assert_true(skew <= 3600500 && skew >= 3600500 - took);

    assert_true(skew_by(NULL) == INT64_MIN);
    (void)snprintf(date, sizeof date, "Date: half past ten");
    assert_true(skew_by(date) == INT64_MIN);
}

UNIT_GROUP(apiclient_prepare, NULL, cmocka_unit_test(call__carries_the_three_kinds),
           cmocka_unit_test(call__sends_just_what_is_needed),
           cmocka_unit_test(call__expects_nothing_of_a_large_body),
           cmocka_unit_test(call__keeps_its_connection),
           cmocka_unit_test(call__runs_in_parallel_within_bounds),
           cmocka_unit_test(call__can_be_started_from_an_answer),
           cmocka_unit_test(create__says_what_is_wrong), cmocka_unit_test(destroy__takes_nothing),
           cmocka_unit_test(call__sees_the_other_clock))
