#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "broker/http/sync_body.h"

static int parse(const char *text, struct sync_body *body, struct problem *problem)
{
    return sync_body_parse(text, strlen(text), body, problem);
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
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sync_body body;
        struct problem problem;
        assert_int_equal(parse(cases[i].text, &body, &problem), -1);
        assert_null(body.root);
        assert_null(body.active);
        assert_int_equal(problem.status, cases[i].status);
        assert_string_equal(problem.code, cases[i].code);
        assert_string_equal(problem.field, cases[i].field);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids__are_read_in_order),
        cmocka_unit_test(bad_body__is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
