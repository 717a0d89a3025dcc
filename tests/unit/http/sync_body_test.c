/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "broker/http/api/bodies/bodies.h"

/* In a buffer of exactly its length, so that a sanitizer sees a look beyond its end. Ids live as
 * long as the next call. */
static int parse(const char *text, struct sync_body *body, struct problem *problem)
{
    static char *bytes;
    size_t length = strlen(text);
    free(bytes);
    bytes = length ? malloc(length) : NULL;
    if (length)
        memcpy(bytes, text, length);
    int rc = sync_body_parse(bytes, length, body, problem);
    if (rc < 0) {
        free(bytes);
        bytes = NULL;
    }
    return rc;
}

static void ids__are_read_in_order(void **state)
{
    (void)state;
    struct sync_body body;
    struct problem problem;
    assert_int_equal(parse("{\"active\":[\"a\",\"b.1\",\"\\u0063\",\"a\"]}", &body, &problem), 0);
    assert_int_equal(body.count, 4);
    assert_string_equal(body.active[0], "a");
    assert_string_equal(body.active[1], "b.1");
    assert_string_equal(body.active[2], "c");
    sync_body_release(&body);
    assert_int_equal(parse("{\"active\":[]}", &body, &problem), 0);
    assert_int_equal(body.count, 0);
    sync_body_release(&body);
}

static void bad_body__is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int status;
        const char *code, *field;
    } cases[] = {
        {"", 400, "bad-json", ""},
        {"[\"a\"]", 400, "bad-json", ""},
        {"{\"active\":[\"a\"]", 400, "bad-json", ""},
        {"{}", 422, "missing-field", "active"},
        {"{\"active\":null}", 422, "invalid", "active"},
        {"{\"active\":{}}", 422, "invalid", "active"},
        {"{\"active\":\"a\"}", 422, "invalid", "active"},
        {"{\"active\":[\"a\",1]}", 422, "invalid", "active[1]"},
        {"{\"active\":[\"a\",null]}", 422, "invalid", "active[1]"},
        {"{\"active\":[\"a b\"]}", 422, "invalid", "active[0]"},
        {"{\"active\":[\"\"]}", 422, "invalid", "active[0]"},
        {"{\"active\":[[\"a\"]]}", 422, "invalid", "active[0]"},
        {"{\"active\":[],\"inactive\":[]}", 422, "unknown-field", "inactive"},
        {"{\"active\":[],\"in\xc3\xa4\":[]}", 422, "unknown-field", "in\xc3\xa4"},
        {"{\"active\":[],\"in\xff\":[]}", 400, "bad-json", ""},
        {"{\"\\u0061ctiv\":[]}", 422, "unknown-field", "activ"},
        {"{\"active\":[],\"active\":[]}", 400, "bad-json", ""},
        {"  ", 400, "bad-json", ""},
        {"x", 400, "bad-json", ""},
        {"null", 400, "bad-json", ""},
        {"-1", 400, "bad-json", ""},
        {"\"active\"", 400, "bad-json", ""},
        {"{", 400, "bad-json", ""},
        {"{\"", 400, "bad-json", ""},
        {"{\"active", 400, "bad-json", ""},
        {"{\"active\"", 400, "bad-json", ""},
        {"{\"active\" []}", 400, "bad-json", ""},
        {"{\"active\":", 400, "bad-json", ""},
        {"{\"active\":x}", 400, "bad-json", ""},
        {"{\"active\":[", 400, "bad-json", ""},
        {"{\"active\":[\"a", 400, "bad-json", ""},
        {"{\"active\":[\"a\"", 400, "bad-json", ""},
        {"{\"active\":[\"a\",", 400, "bad-json", ""},
        {"{\"active\":[\"a\",]}", 400, "bad-json", ""},
        {"{\"active\":[,\"a\"]}", 400, "bad-json", ""},
        {"{\"active\":[\"a\" \"b\"]}", 400, "bad-json", ""},
        {"{\"active\":[\"a\"}", 400, "bad-json", ""},
        {"{\"active\":[x]}", 400, "bad-json", ""},
        {"{\"active\":[\"a\"],}", 400, "bad-json", ""},
        {"{\"active\":[]}}", 400, "bad-json", ""},
        {"{\"active\":[]} x", 400, "bad-json", ""},
        {"{\"active\":[\"a\nb\"]}", 400, "bad-json", ""},
        {"{\"active\":[\"a\\", 400, "bad-json", ""},
        {"{\"active\":[\"a\\x\"]}", 400, "bad-json", ""},
        {"{\"active\":[\"a\\u00", 400, "bad-json", ""},
        {"{\"active\":[\"a\\u00g0\"]}", 400, "bad-json", ""},
        {"{\"active\":[\"a\\u0000\"]}", 400, "bad-json", ""},
        {"{\"active\":[\"a\\u0020\"]}", 422, "invalid", "active[0]"},
        {"{\"active\":[\"a\\n\"]}", 422, "invalid", "active[0]"},
        {"{\"active\":[\"a\\/\"]}", 422, "invalid", "active[0]"},
        {"{\"active\":[\"a\\\"\"]}", 422, "invalid", "active[0]"},
        {"{\"active\":[\"\xc3\xa4\"]}", 422, "invalid", "active[0]"},
        {"{\"active\":[\"a\",true]}", 422, "invalid", "active[1]"},
        {"{\"active\":[-1]}", 422, "invalid", "active[0]"},
        {"{\"active\":[{}]}", 422, "invalid", "active[0]"},
        {"{\"active\":7}", 422, "invalid", "active"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sync_body body;
        struct problem problem;
        assert_int_equal(parse(cases[i].text, &body, &problem), -1);
        assert_null(body.active);
        assert_int_equal(problem.status, cases[i].status);
        assert_string_equal(problem.code, cases[i].code);
        assert_string_equal(problem.field, cases[i].field);
    }
}

static void bad_json__is_found_by_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place;
    } cases[] = {
        {"", "line 1, column 1:"},
        {"{\"active\":[\n \"a\",\n \"b\" x]}", "line 3, column 6:"},
        {"{\"active\":[\"\\u0061\",,", "line 1, column 21:"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sync_body body;
        struct problem problem;
        assert_int_equal(parse(cases[i].text, &body, &problem), -1);
        assert_non_null(strstr(problem.detail, cases[i].place));
    }
}

static void space__is_passed_over(void **state)
{
    (void)state;
    struct sync_body body;
    struct problem problem;
    assert_int_equal(parse(" {\t\"active\"\r\n: [ \"a\" ,\n\"B-9_@+:.\" ] }\n", &body, &problem),
                     0);
    assert_int_equal(body.count, 2);
    assert_string_equal(body.active[0], "a");
    assert_string_equal(body.active[1], "B-9_@+:.");
    sync_body_release(&body);
}

/* {"active":["a","a",…]} with so many ids; the caller frees it. */
static char *many(size_t count)
{
    char *text = malloc(count * 4 + 32), *at = text;
    assert_non_null(text);
    at = stpcpy(at, "{\"active\":[");
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, i ? ",\"a\"" : "\"a\"");
    strcpy(at, "]}");
    return text;
}

static void ids__are_two_million_at_most(void **state)
{
    (void)state;
    struct sync_body body;
    struct problem problem;
    char *text = many(SYNC_IDS_MAX);
    assert_int_equal(sync_body_parse(text, strlen(text), &body, &problem), 0);
    assert_int_equal(body.count, SYNC_IDS_MAX);
    assert_string_equal(body.active[SYNC_IDS_MAX - 1], "a");
    sync_body_release(&body);
    free(text);
    text = many(SYNC_IDS_MAX + 1);
    assert_int_equal(sync_body_parse(text, strlen(text), &body, &problem), -1);
    assert_int_equal(problem.status, 422);
    assert_string_equal(problem.field, "active");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids__are_read_in_order),
        cmocka_unit_test(bad_body__is_named),
        cmocka_unit_test(bad_json__is_found_by_line_and_column),
        cmocka_unit_test(space__is_passed_over),
        cmocka_unit_test(ids__are_two_million_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
