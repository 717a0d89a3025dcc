/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "broker/http/api/bodies/bodies.h"

#include <stdio.h>
#include <stdlib.h>

/* The request's strings belong to it, until the next. */
static json_t *body;

static int parse_bytes(const char *bytes, size_t length, struct reserve_request *request,
                       struct problem *problem)
{
    json_decref(body);
    body = body_read(bytes, length, problem);
    return body ? reserve_body_parse(body, request, problem) : -1;
}

static int parse(const char *text, struct reserve_request *request, struct problem *problem)
{
    return parse_bytes(text, strlen(text), request, problem);
}

static void request__is_read_whole(void **state)
{
    (void)state;
    struct reserve_request request;
    struct problem problem;
    assert_int_equal(parse("{\"uid\":5588,\"nodes\":\"elcap[1-128]\",\"node_count\":128,"
                           "\"cores_per_node\":96,\"vni_count\":4,\"hwcoll\":\"required\","
                           "\"traffic_classes\":[\"bulk_data\",\"dedicated_access\"]}",
                           &request, &problem),
                     0);
    assert_int_equal(request.uid, 5588);
    assert_string_equal(request.nodes, "elcap[1-128]");
    assert_int_equal(request.node_count, 128);
    assert_int_equal(request.cores_per_node, 96);
    assert_int_equal(request.vni_count, 4);
    assert_int_equal(request.wish, WISH_REQUIRED);
    assert_int_equal(request.traffic_classes, TC_BULK_DATA | TC_DEDICATED_ACCESS);
}

static void request__says_what_was_not_told(void **state)
{
    (void)state;
    struct reserve_request request;
    struct problem problem;
    assert_int_equal(parse(" {\"uid\":0,\"node_count\":1}\n", &request, &problem), 0);
    assert_int_equal(request.uid, 0);
    assert_null(request.nodes);
    assert_int_equal(request.node_count, 1);
    assert_int_equal(request.cores_per_node, 0);
    assert_int_equal(request.vni_count, -1);
    assert_int_equal(request.wish, 0);
    assert_int_equal(request.traffic_classes, 0);
    assert_int_equal(
        parse("{\"uid\":4294967294,\"nodes\":\"a\",\"vni_count\":0}", &request, &problem), 0);
    assert_int_equal(request.vni_count, 0); /* none is a wish, too (F2) */
    assert_int_equal(request.node_count, 1);
}

#define MORE(members) "{\"uid\":1,\"node_count\":2," members "}"

static void bad_value__is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *code, *field;
    } cases[] = {
        {"{}", "missing-field", "uid"},
        {"{\"node_count\":2}", "missing-field", "uid"},
        {"{\"uid\":1}", "missing-field", "nodes"},
        {"{\"uid\":-1,\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":4294967295,\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":1.0,\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":\"1\",\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":null,\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":1e9,\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":-0.5,\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":99999999999999999999,\"node_count\":2}", "invalid", "uid"},
        {MORE("\"vni_count\":99999999999999999999"), "invalid", "vni_count"},
        {MORE("\"traffic_classes\":[7,1e999]"), "invalid", "traffic_classes"},
        {"{\"uid\":1,\"nodes\":\"\xc3\xa4\"}", "invalid", "nodes"},
        {"{\"uid\":true,\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":[1],\"node_count\":2}", "invalid", "uid"},
        {"{\"uid\":1,\"node_count\":0}", "invalid", "node_count"},
        {"{\"uid\":1,\"node_count\":1000001}", "invalid", "node_count"},
        {"{\"uid\":1,\"nodes\":7}", "invalid", "nodes"},
        {"{\"uid\":1,\"nodes\":\"\"}", "invalid", "nodes"},
        {"{\"uid\":1,\"nodes\":\"a[1-\"}", "invalid", "nodes"},
        {"{\"uid\":1,\"nodes\":\"a[1-3]\",\"node_count\":2}", "invalid", "node_count"},
        {MORE("\"cores_per_node\":0"), "invalid", "cores_per_node"},
        {MORE("\"cores_per_node\":99999999999999"), "invalid", "cores_per_node"},
        {MORE("\"vni_count\":5"), "invalid", "vni_count"},
        {MORE("\"vni_count\":-1"), "invalid", "vni_count"},
        {MORE("\"vni_count\":null"), "invalid", "vni_count"},
        {MORE("\"hwcoll\":\"maybe\""), "invalid", "hwcoll"},
        {MORE("\"hwcoll\":\"\""), "invalid", "hwcoll"},
        {MORE("\"hwcoll\":true"), "invalid", "hwcoll"},
        {MORE("\"traffic_classes\":[]"), "invalid", "traffic_classes"},
        {MORE("\"traffic_classes\":\"bulk_data\""), "invalid", "traffic_classes"},
        {MORE("\"traffic_classes\":[\"bulk_data\",\"fast\"]"), "invalid", "traffic_classes[1]"},
        {MORE("\"traffic_classes\":[1]"), "invalid", "traffic_classes[0]"},
        {MORE("\"vnis\":1"), "unknown-field", "vnis"},
        {MORE("\"\":1"), "unknown-field", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reserve_request request;
        struct problem problem;
        assert_int_equal(parse(cases[i].text, &request, &problem), -1);
        assert_int_equal(problem.status, 422);
        assert_string_equal(problem.code, cases[i].code);
        assert_string_equal(problem.field, cases[i].field);
        assert_true(problem.detail[0] != '\0');
    }
}

static void bad_json__is_told_with_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *where;
    } cases[] = {
        {"", "line 1, column 1"},
        {"{", "line 1, column 1"},
        {"{\n\"uid\":1,\n  x}", "line 3, column 3"},
        {"{\"uid\":1,\"uid\":1}", "line 1, column 14"},
        {"{\"uid\":1}{", "line 1, column 10"},
        {"{\"uid\":01}", "line 1"},
        {"{\"uid\":1.}", "line 1"},
        {"{\"uid\":nul}", "line 1"},
        {"{\"nodes\":\"\\u0000\"}", "line 1"},
        {"{\"nodes\":\"\\ud800\"}", "line 1"},
        {"{\"nodes\":\"\\udc00\\ud800\"}", "line 1"},
        {"{\"nodes\":\"\\ud800\\u0041\"}", "line 1"},
        {"{\"uid\":tru", "line 1"},
        {"{\"nodes\":\"\xff\"}", "line 1"},
        {"{\"nodes\":\"\xc3\"}", "line 1"},
        {"{\"nodes\":\"\xed\xa0\x80\"}", "line 1"},
        {"{\"nodes\":\"\xf4\x90\x80\x80\"}", "line 1"},
        {"{\"nodes\":\"\xe0\x80\x80\"}", "line 1"},
        {"{\"uid\":-}", "line 1"},
        {"{\"uid\":1e}", "line 1"},
        {"{\"uid\":+1}", "line 1"},
        {"{\"uid\":1,}", "line 1"},
        {"{\"uid\":}", "line 1"},
        {"{\"nodes\":\"\\x\"}", "line 1"},
        {"{\"nodes\":\"a", "line 1"},
        {"{'uid':1}", "line 1"},
        {"[]", "line 1, column 1"},
        {"[1]", "line 1, column 1"},
        {"null", "line 1"},
        {"7", "line 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reserve_request request;
        struct problem problem;
        assert_int_equal(parse(cases[i].text, &request, &problem), -1);
        assert_int_equal(problem.status, 400);
        assert_string_equal(problem.code, "bad-json");
        assert_non_null(strstr(problem.detail, cases[i].where));
    }
}

static void bytes__of_every_kind_are_survived(void **state)
{
    (void)state;
    static const char good[] =
        "{\"uid\":1,\"nodes\":\"a[1-2]\",\"traffic_classes\":[\"bulk_data\"]}";
    struct reserve_request request;
    struct problem problem;
    for (size_t at = 0; at < sizeof good - 1; at++) {
        for (int byte = 0; byte < 256; byte++) {
            char bytes[sizeof good];
            memcpy(bytes, good, sizeof good);
            bytes[at] = (char)byte;
            if (parse_bytes(bytes, sizeof good - 1, &request, &problem) < 0)
                assert_true(problem.status == 400 || problem.status == 422);
        }
        assert_int_equal(parse_bytes(good, at, &request, &problem), -1);
    }
}

static void nodes__have_a_longest_text(void **state)
{
    (void)state;
    enum { LONG = 70000 };
    char *text = malloc(LONG + 64);
    assert_non_null(text);
    int used = snprintf(text, 64, "{\"uid\":1,\"nodes\":\"");
    memset(text + used, 'n', LONG);
    strcpy(text + used + LONG, "\"}");
    struct reserve_request request;
    struct problem problem;
    assert_int_equal(parse(text, &request, &problem), -1);
    assert_string_equal(problem.field, "nodes");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(request__is_read_whole),
        cmocka_unit_test(request__says_what_was_not_told),
        cmocka_unit_test(bad_value__is_named),
        cmocka_unit_test(bad_json__is_told_with_line_and_column),
        cmocka_unit_test(bytes__of_every_kind_are_survived),
        cmocka_unit_test(nodes__have_a_longest_text),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(body);
    return failed;
}
