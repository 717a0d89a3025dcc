/* SPDX-License-Identifier: Apache-2.0 */
/* What whoever asks for a token wants (B3), and spans of time in requests. */

#include "broker/http/api/bodies/bodies.h"
#include "broker/http/request/wait_query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { NOW = 1000000 };

/* The texts in what is read belong to it, until the next one. */
static json_t *tree;

static int parse(const char *text, struct bearer_limits *limits, struct problem *problem)
{
    json_decref(tree);
    tree = body_read(text, strlen(text), problem);
    return tree ? mint_body_parse(tree, NOW, limits, problem) : -1;
}

static void body__may_say_nothing(void **state)
{
    (void)state;
    static const char *const bodies[] = {"{}", " { } "};
    for (size_t i = 0; i < 2; i++) {
        struct bearer_limits limits;
        struct problem problem = {0};
        assert_int_equal(parse(bodies[i], &limits, &problem), 0);
        assert_null(limits.steps);
        assert_int_equal(limits.operations, 0);
        assert_int_equal(limits.expires, 0);
    }
}

static void body__says_steps_operations_and_time(void **state)
{
    (void)state;
    struct bearer_limits limits;
    struct problem problem = {0};
    assert_int_equal(parse("{\"steps\":\"/fA/fB\",\"operations\":[\"cleanup\",\"show\",\"show\"],"
                           "\"expires\":90}",
                           &limits, &problem),
                     0);
    assert_string_equal(limits.steps, "/fA/fB");
    assert_int_equal(limits.operations, BEARER_EVERYTHING);
    assert_int_equal(limits.expires, NOW + 90);
    assert_int_equal(parse("{\"expires\":\"3650d\"}", &limits, &problem), 0);
    assert_int_equal(limits.expires, NOW + INT64_C(3650) * 86400);
}

static void body__that_is_none_names_the_field(void **state)
{
    (void)state;
    static const struct {
        const char *body, *field;
        int status;
    } cases[] = {
        {"{", "", 400},
        {"null", "", 400},
        {"{\"step\":\"/fA\"}", "step", 422},
        {"{\"steps\":\"\"}", "steps", 422},
        {"{\"steps\":null}", "steps", 422},
        {"{\"steps\":\"/fA/\"}", "steps", 422},
        {"{\"expires\":0}", "expires", 422},
        {"{\"expires\":315360001}", "expires", 422},
        {"{\"expires\":\"3651d\"}", "expires", 422},
        {"{\"expires\":\"999ms\"}", "expires", 422},
        {"{\"expires\":\"1 h\"}", "expires", 422},
        {"{\"expires\":9223372036854775807}", "expires", 422},
        {"{\"expires\":-9223372036854775808}", "expires", 422},
        {"{\"expires\":true}", "expires", 422},
        {"{\"expires\":null}", "expires", 422},
        {"{\"operations\":[]}", "operations", 422},
        {"{\"operations\":[\"\"]}", "operations", 422},
        {"{\"operations\":[7]}", "operations", 422},
        {"{\"operations\":{\"show\":1}}", "operations", 422},
        {"{\"operations\":[\"show\",\"all\"]}", "operations", 422},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bearer_limits limits;
        struct problem problem = {0};
        if (parse(cases[i].body, &limits, &problem) == 0)
            fail_msg("%s is taken", cases[i].body);
        assert_int_equal(problem.status, cases[i].status);
        assert_string_equal(problem.field, cases[i].field);
    }
}

static void wait__is_as_the_call_has_it_when_not_given(void **state)
{
    (void)state;
    struct problem problem = {0};
    struct target target;
    int64_t ms = 0;
    char none[] = "/x", given[] = "/x?wait=3s", bad[] = "/x?wait=3";
    assert_int_equal(target_split(none, &target, &problem), 0);
    assert_int_equal(wait_query_read(&target, 5000, &ms, &problem), 0);
    assert_int_equal(ms, 5000);
    assert_int_equal(target_split(given, &target, &problem), 0);
    assert_int_equal(wait_query_read(&target, 5000, &ms, &problem), 0);
    assert_int_equal(ms, 3000);
    assert_int_equal(target_split(bad, &target, &problem), 0);
    assert_int_equal(wait_query_read(&target, 5000, &ms, &problem), -1);
    assert_int_equal(problem.status, 422);
    assert_string_equal(problem.field, "wait");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(body__may_say_nothing),
        cmocka_unit_test(body__says_steps_operations_and_time),
        cmocka_unit_test(body__that_is_none_names_the_field),
        cmocka_unit_test(wait__is_as_the_call_has_it_when_not_given),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(tree);
    return failed;
}
