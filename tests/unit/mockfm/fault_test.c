/* SPDX-License-Identifier: Apache-2.0 */
/* The mock fabric manager's rules of misbehaviour: which requests they hit, and what they do. */

#include "mock-fm/faults/faults.h"
#include "tests/unit/unit.h"

static struct faults with_rules(const char *rules)
{
    json_t *text = json_loads(rules, 0, NULL);
    struct faults faults;
    struct problem problem;

    assert_non_null(text);
    faults_init(&faults, 42);
    if (faults_add(&faults, text, &problem) < 0)
        fail_msg("%s", problem.text);
    json_decref(text);
    return faults;
}

/* The status that the rule which fires answers with, 0 when none does. */
static int status_for(struct faults *faults, const struct request *request, bool session)
{
    json_t *fault = faults_pick(faults, request, session);
    int status = (int)fault_number(fault, "status");

    json_decref(fault);
    return status;
}

static int status_of(struct faults *faults, const char *method, const char *path)
{
    return status_for(faults, &(struct request){.method = method, .path = path}, false);
}

static void rule__hits_method_and_path(void **state)
{
    struct faults faults = with_rules("[{\"method\":\"POST\",\"path\":\"*/jobs\",\"status\":500},"
                                      "{\"path\":\"/fabric/*/c-?\",\"status\":503}]");

    assert_int_equal(status_of(&faults, "POST", "/fabric/collectives/jobs"), 500);
    assert_int_equal(status_of(&faults, "GET", "/fabric/collectives/jobs"), 0);
    assert_int_equal(status_of(&faults, "GET", "/fabric/collectives/jobs/c-1"), 503);
    assert_int_equal(status_of(&faults, "GET", "/fabric/collectives/jobs/c-11"), 0);
    faults_clear(&faults);
    assert_int_equal(status_of(&faults, "POST", "/fabric/collectives/jobs"), 0);
    faults_clear(&faults);
}

/* So that one can be refused and not the other, as by a server for which only one is a login. */
static void rule__tells_session_tokens_from_logins(void **state)
{
    struct faults faults = with_rules("[{\"method\":\"PATCH\",\"session\":true,\"status\":401},"
                                      "{\"method\":\"PATCH\",\"session\":false,\"status\":500},"
                                      "{\"status\":503}]");

    for (int session = 0; session <= 1; session++) {
        const struct request patch = {.method = "PATCH", .path = "/"};
        const struct request get = {.method = "GET", .path = "/"};

        assert_int_equal(status_for(&faults, &patch, session), session ? 401 : 500);
        assert_int_equal(status_for(&faults, &get, session), 503);
    }
    faults_clear(&faults);
}

static void rule__skips_and_counts(void **state)
{
    struct faults faults = with_rules("{\"skip\":2,\"count\":3,\"status\":500}");
    static const int expected[] = {0, 0, 500, 500, 500, 0, 0};
    json_t *document;
    const json_t *rule;

    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_int_equal(status_of(&faults, "GET", "/"), expected[i]);
    document = faults_document(&faults);
    rule = json_array_get(json_object_get(document, "faults"), 0);
    assert_int_equal(json_integer_value(json_object_get(rule, "matched")), 7);
    assert_int_equal(json_integer_value(json_object_get(rule, "fired")), 3);
    json_decref(document);
    faults_clear(&faults);
}

static void rule__fires_for_every_so_many(void **state)
{
    struct faults faults = with_rules("{\"skip\":1,\"every\":3,\"count\":2,\"status\":500}");
    static const int expected[] = {0, 0, 0, 500, 0, 0, 500, 0, 0, 0};

    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_int_equal(status_of(&faults, "GET", "/"), expected[i]);
    faults_clear(&faults);
}

static int status_at(struct faults *faults, int64_t ms)
{
    return status_for(faults, &(struct request){.method = "GET", .path = "/", .now_us = ms * 1000},
                      false);
}

/* From its first time on, not from when it was given. */
static void rule__fires_for_some_time(void **state)
{
    struct faults faults = with_rules("{\"for_ms\":100,\"status\":500}");

    assert_int_equal(status_at(&faults, 7000), 500);
    assert_int_equal(status_at(&faults, 7099), 500);
    assert_int_equal(status_at(&faults, 7100), 0);
    assert_int_equal(status_at(&faults, 9000), 0);
    faults_clear(&faults);
}

static void request__is_bent(void **state)
{
    struct faults faults = with_rules("{\"session_token\":\"sess-1\",\"stale_ms\":5,"
                                      "\"stale_writes\":7,\"page_size\":2}");
    struct request request = {.method = "GET", .path = "/"};
    json_t *fault = faults_pick(&faults, &request, false);

    assert_true(faults_lag(&faults));
    faults_clear(&faults); /* the fault outlives its rule */
    assert_false(faults_lag(&faults));
    fault_bend_request(fault, &request);
    assert_string_equal(request.session_token, "sess-1");
    assert_int_equal(request.lag.ms, 5);
    assert_int_equal(request.lag.writes, 7);
    assert_int_equal(request.page_size, 2);
    json_decref(fault);
}

static void rule__used_up_leaves_room_for_the_next(void **state)
{
    struct faults faults =
        with_rules("[{\"count\":1,\"status\":500},{\"count\":1,\"status\":503}]");

    assert_int_equal(status_of(&faults, "GET", "/"), 500);
    assert_int_equal(status_of(&faults, "GET", "/"), 503);
    assert_int_equal(status_of(&faults, "GET", "/"), 0);
    faults_clear(&faults);
}

static void probability__repeats_with_the_seed(void **state)
{
    int outcomes[2][1000], hits = 0;

    for (int run = 0; run < 2; run++) {
        struct faults faults = with_rules("{\"probability\":0.25,\"status\":500}");

        for (int i = 0; i < 1000; i++)
            outcomes[run][i] = status_of(&faults, "GET", "/");
        faults_clear(&faults);
    }
    assert_memory_equal(outcomes[0], outcomes[1], sizeof outcomes[0]);
    for (int i = 0; i < 1000; i++)
        hits += outcomes[0][i] == 500;
    assert_in_range(hits, 150, 350);
}

static void rule__that_is_wrong_is_named_and_adds_nothing(void **state)
{
    static const struct {
        const char *rule, *named;
    } wrong[] = {
        {"{\"stauts\":500}", "stauts"},
        {"{\"status\":99}", "status"},
        {"{\"status\":\"500\"}", "status"},
        {"{\"drop\":\"never\"}", "drop"},
        {"{\"drop\":true}", "drop"},
        {"{\"count\":-1}", "count"},
        {"{\"probability\":1.5}", "probability"},
        {"{\"every\":0}", "every"},
        {"{\"for_ms\":0}", "for_ms"},
        {"{\"stale_ms\":0}", "stale_ms"},
        {"{\"stale_writes\":\"2\"}", "stale_writes"},
        {"{\"session_token\":\"\"}", "session_token"},
        {"{\"session_token\":7}", "session_token"},
        {"{\"delay_ms\":3600001}", "delay_ms"},
        {"{\"garbage\":1}", "garbage"},
        {"{\"page_size\":0}", "page_size"},
        {"{\"merge\":[]}", "merge"},
        {"{\"headers\":\"Retry-After: 5\"}", "headers"},
        {"{\"headers\":{\"Retry-After\":5}}", "headers"},
        {"{\"headers\":{\"Retry After\":\"5\"}}", "headers"},
        {"{\"headers\":{\"\":\"5\"}}", "headers"},
        {"{\"headers\":{\"A\":\"5\\r\\nB: 6\"}}", "headers"},
        {"{\"headers\":{\"content-length\":\"5\"}}", "Content-Length"},
        {"{\"byte_every_ms\":0}", "byte_every_ms"},
        {"{\"fill_to\":67108865}", "fill_to"},
        {"{\"chunked\":1}", "chunked"},
        {"{\"method\":1}", "method"},
        {"7", "object"},
        {"[{\"status\":500},{\"x\":1}]", "'x'"},
    };
    struct faults faults;

    faults_init(&faults, 1);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        json_t *text = json_loads(wrong[i].rule, JSON_DECODE_ANY, NULL);
        struct problem problem;

        assert_int_equal(faults_add(&faults, text, &problem), -1);
        assert_int_equal(problem.status, 400);
        assert_non_null(strstr(problem.text, wrong[i].named));
        assert_int_equal(faults.count, 0);
        json_decref(text);
    }
    faults_clear(&faults);
}

static bool lets_act(const char *rule)
{
    json_t *fault = json_loads(rule, 0, NULL);
    bool acts = fault_lets_act(fault);

    json_decref(fault);
    return acts;
}

/* What acts, and what only pretends: late successes are made of this. */
static void fault__decides_whether_the_request_acts(void **state)
{
    assert_true(fault_lets_act(NULL));
    assert_true(lets_act("{\"delay_ms\":5,\"garbage\":true}"));
    assert_true(lets_act("{\"drop\":\"after\"}"));
    assert_true(lets_act("{\"status\":504,\"act\":true}"));
    assert_false(lets_act("{\"status\":504}"));
    assert_false(lets_act("{\"drop\":\"before\"}"));
}

static struct answer sample(void)
{
    return (struct answer){.status = 200,
                           .document =
                               json_pack("{s:[s], s:s, s:s}", "documentLinks", "/x", "hwRoot",
                                         "00:00:00:01:12:00", "sessionToken", "sess-1")};
}

static void bend(struct answer *answer, const char *method, const char *rule)
{
    json_t *fault = json_loads(rule, 0, NULL);

    fault_bend_answer(fault, method, answer);
    json_decref(fault);
}

static void document__loses_what_the_fault_takes(void **state)
{
    struct answer answer = sample();

    bend(&answer, "POST", "{\"short_hw_root\":true}");
    assert_string_equal(json_string_value(json_object_get(answer.document, "hwRoot")), "01:12:00");
    assert_int_equal(json_object_size(answer.document), 3);
    bend(&answer, "POST", "{\"no_hw_root\":true}");
    assert_null(json_object_get(answer.document, "hwRoot"));
    bend(&answer, "POST", "{\"no_session_token\":true}");
    assert_null(json_object_get(answer.document, "sessionToken"));
    bend(&answer, "GET", "{\"no_document_links\":true}");
    assert_null(json_object_get(answer.document, "documentLinks"));
    bend(&answer, "GET", "{\"patch_no_body\":true}");
    assert_non_null(answer.document);
    bend(&answer, "PATCH", "{\"patch_no_body\":true}");
    assert_null(answer.document);
    assert_int_equal(answer.status, 200);
}

static void merge__replaces_and_takes_away(void **state)
{
    struct answer answer = sample();

    bend(&answer, "POST", "{\"merge\":{\"sessionToken\":12,\"hwRoot\":null,\"more\":[1]}}");
    assert_int_equal(json_integer_value(json_object_get(answer.document, "sessionToken")), 12);
    assert_null(json_object_get(answer.document, "hwRoot"));
    assert_int_equal(json_array_size(json_object_get(answer.document, "more")), 1);
    assert_int_equal(json_array_size(json_object_get(answer.document, "documentLinks")), 1);
    answer_release(&answer);
}

static void status__brings_an_error_document(void **state)
{
    struct answer answer = sample();

    bend(&answer, "GET", "{\"status\":503}");
    assert_int_equal(answer.status, 503);
    assert_non_null(json_object_get(answer.document, "message"));
    assert_non_null(json_object_get(answer.document, "detail"));
    bend(&answer, "GET", "{\"status\":204}");
    assert_int_equal(answer.status, 204);
    assert_null(answer.document);
}

static void bend_body(struct body *body, const char *rule)
{
    json_t *fault = json_loads(rule, 0, NULL);

    fault_bend_body(fault, body);
    json_decref(fault);
}

static void body__is_filled_up_and_stays_json(void **state)
{
    struct answer answer = sample();
    struct body body;
    size_t before;
    json_t *json;

    answer_render(&answer, &body);
    before = body.length;
    bend_body(&body, "{\"fill_to\":5}");
    assert_int_equal(body.length, before);
    bend_body(&body, "{\"fill_to\":1048576}");
    assert_int_equal(body.length, 1 << 20);
    assert_non_null(json = json_loadb(body.bytes, body.length, 0, NULL));
    json_decref(json);
    free(body.bytes);
    answer_release(&answer);
}

static void body__is_replaced(void **state)
{
    struct answer answer = sample();
    struct body body;

    answer_render(&answer, &body);
    bend_body(&body, "{\"body\":\"plain\"}");
    assert_int_equal(body.length, 5);
    assert_memory_equal(body.bytes, "plain", 5);
    bend_body(&body, "{\"body\":{\"a\":1}}");
    assert_int_equal(body.length, 7);
    assert_memory_equal(body.bytes, "{\"a\":1}", 7);
    bend_body(&body, "{\"length_4096\":true}");
    assert_int_equal(body.length, 4096);
    assert_memory_equal(body.bytes, "{\"a\":1} ", 8);
    bend_body(&body, "{\"garbage\":true}");
    assert_null(json_loadb(body.bytes, body.length, 0, NULL));
    free(body.bytes);
    answer_release(&answer);
}

UNIT_MAIN(cmocka_unit_test(rule__hits_method_and_path),
          cmocka_unit_test(rule__tells_session_tokens_from_logins),
          cmocka_unit_test(rule__skips_and_counts), cmocka_unit_test(rule__fires_for_every_so_many),
          cmocka_unit_test(rule__fires_for_some_time), cmocka_unit_test(request__is_bent),
          cmocka_unit_test(rule__used_up_leaves_room_for_the_next),
          cmocka_unit_test(probability__repeats_with_the_seed),
          cmocka_unit_test(rule__that_is_wrong_is_named_and_adds_nothing),
          cmocka_unit_test(fault__decides_whether_the_request_acts),
          cmocka_unit_test(document__loses_what_the_fault_takes),
          cmocka_unit_test(merge__replaces_and_takes_away),
          cmocka_unit_test(body__is_filled_up_and_stays_json),
          cmocka_unit_test(status__brings_an_error_document), cmocka_unit_test(body__is_replaced))
