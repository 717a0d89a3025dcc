/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "broker/http/api/bodies/bodies.h"

#include <stdio.h>

/* What a node may say of a job's services (F3). */

static int parse(const char *text, struct node_body *body, struct problem *problem)
{
    json_t *json = body_read(text, strlen(text), problem);
    int rc = json ? node_body_parse(json, body, problem) : -1;
    json_decref(json);
    return rc;
}

static void report__is_read_whole(void **state)
{
    (void)state;
    struct node_body body;
    struct problem problem;
    assert_int_equal(parse("{\"state\":\"created\",\"number\":4711,\"services\":["
                           "{\"device\":\"cxi0\",\"id\":12},{\"id\":7,\"device\":\"cxi1\"}]}",
                           &body, &problem),
                     0);
    assert_int_equal(body.state, NODE_CREATED);
    assert_int_equal(body.number, 4711);
    assert_string_equal(body.services, "cxi0:12,cxi1:7");
}

static void report__needs_no_services(void **state)
{
    (void)state;
    struct node_body body;
    struct problem problem;
    assert_int_equal(
        parse("{\"state\":\"destroyed\",\"number\":9223372036854775807}", &body, &problem), 0);
    assert_int_equal(body.state, NODE_DESTROYED);
    assert_true(body.number == INT64_MAX);
    assert_string_equal(body.services, "");
    assert_int_equal(
        parse("{\"state\":\"destroyed\",\"number\":1,\"services\":[]}", &body, &problem), 0);
    assert_string_equal(body.services, "");
    assert_int_equal(parse("{\"state\":\"lingering\",\"number\":1}", &body, &problem), 0);
    assert_int_equal(body.state, NODE_LINGERING);
}

static void vnis__are_read_and_may_be_missing(void **state)
{
    (void)state;
    struct node_body body;
    struct problem problem;
    assert_int_equal(parse("{\"state\":\"created\",\"number\":1}", &body, &problem), 0);
    assert_int_equal(body.vni_count, 0);
    assert_int_equal(parse("{\"state\":\"created\",\"number\":1,\"vnis\":[]}", &body, &problem), 0);
    assert_int_equal(body.vni_count, 0);
    assert_int_equal(
        parse("{\"state\":\"created\",\"number\":1,\"vnis\":[1024,1,65535,7]}", &body, &problem),
        0);
    assert_int_equal(body.vni_count, 4);
    assert_int_equal(body.vnis[0], 1024);
    assert_int_equal(body.vnis[2], 65535);
    static const char *const wrong[] = {"[0]",         "[65536]", "[\"1024\"]",  "1024",
                                        "[1024,1024]", "{}",      "[1,2,3,4,5]", "null"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[128];
        snprintf(text, sizeof text, "{\"state\":\"created\",\"number\":1,\"vnis\":%s}", wrong[i]);
        assert_int_equal(parse(text, &body, &problem), -1);
        assert_int_equal(problem.status, 422);
        assert_string_equal(problem.field, "vnis");
    }
}

/* Two services of one NIC are two, also when one's text begins as the other's does. */
static void services__may_share_a_nic(void **state)
{
    (void)state;
    struct node_body body;
    struct problem problem;
    assert_int_equal(parse("{\"state\":\"lingering\",\"number\":1,\"services\":["
                           "{\"device\":\"cxi0\",\"id\":12},{\"device\":\"cxi0\",\"id\":1},"
                           "{\"device\":\"xi0\",\"id\":12}]}",
                           &body, &problem),
                     0);
    assert_string_equal(body.services, "cxi0:12,cxi0:1,xi0:12");
}

static void services__may_be_sixteen(void **state)
{
    (void)state;
    struct node_body body;
    struct problem problem;
    char text[1024];
    for (int count = 16; count <= 17; count++) {
        size_t used = (size_t)snprintf(text, sizeof text,
                                       "{\"state\":\"created\",\"number\":1,\"services\":[");
        for (int i = 0; i < count; i++)
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "%s{\"device\":\"cxi%d\",\"id\":%d}", i > 0 ? "," : "", i,
                                     999999999 - i);
        snprintf(text + used, sizeof text - used, "]}");
        assert_int_equal(parse(text, &body, &problem), count == 16 ? 0 : -1);
    }
    assert_string_equal(problem.field, "services");
}

/* What no record could hold is refused, not cut. */
static void services__too_long_together_are_refused(void **state)
{
    (void)state;
    struct node_body body;
    struct problem problem;
    char text[1024];
    size_t used =
        (size_t)snprintf(text, sizeof text, "{\"state\":\"created\",\"number\":1,\"services\":[");
    for (int i = 0; i < 16; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%s{\"device\":\"abcdefghijklm%02d\",\"id\":999999999}",
                                 i > 0 ? "," : "", i);
    snprintf(text + used, sizeof text - used, "]}");
    assert_int_equal(parse(text, &body, &problem), -1);
    assert_string_equal(problem.field, "services");
    assert_non_null(strstr(problem.detail, "400 bytes"));
}

#define MORE(members) "{\"state\":\"created\",\"number\":1," members "}"
#define SERVICES(list) MORE("\"services\":" list)

static void bad_value__is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *code, *field;
    } cases[] = {
        {"{}", "missing-field", "state"},
        {"{\"number\":1}", "missing-field", "state"},
        {"{\"state\":\"created\"}", "missing-field", "number"},
        {"{\"state\":\"fenced\",\"number\":1}", "invalid", "state"}, /* an admin's word */
        {"{\"state\":\"Created\",\"number\":1}", "invalid", "state"},
        {"{\"state\":\"\",\"number\":1}", "invalid", "state"},
        {"{\"state\":1,\"number\":1}", "invalid", "state"},
        {"{\"state\":null,\"number\":1}", "invalid", "state"},
        {"{\"state\":\"created\",\"number\":0}", "invalid", "number"},
        {"{\"state\":\"created\",\"number\":-1}", "invalid", "number"},
        {"{\"state\":\"created\",\"number\":1.0}", "invalid", "number"},
        {"{\"state\":\"created\",\"number\":\"1\"}", "invalid", "number"},
        {"{\"state\":\"created\",\"number\":null}", "invalid", "number"},
        {MORE("\"node\":\"n1\""), "unknown-field", "node"},
        {SERVICES("{}"), "invalid", "services"},
        {SERVICES("null"), "invalid", "services"},
        {SERVICES("[1]"), "invalid", "services[0]"},
        {SERVICES("[{\"device\":\"cxi0\",\"id\":1},{}]"), "invalid", "services[1].id"},
        {SERVICES("[{\"device\":\"cxi0\"}]"), "invalid", "services[0].id"},
        {SERVICES("[{\"device\":\"cxi0\",\"id\":0}]"), "invalid", "services[0].id"},
        {SERVICES("[{\"device\":\"cxi0\",\"id\":1000000000}]"), "invalid", "services[0].id"},
        {SERVICES("[{\"device\":\"cxi0\",\"id\":4294967297}]"), "invalid", "services[0].id"},
        {SERVICES("[{\"device\":\"cxi0\",\"id\":\"1\"}]"), "invalid", "services[0].id"},
        {SERVICES("[{\"id\":1}]"), "invalid", "services[0].device"},
        {SERVICES("[{\"device\":null,\"id\":1}]"), "invalid", "services[0].device"},
        {SERVICES("[{\"device\":\"\",\"id\":1}]"), "invalid", "services[0].device"},
        {SERVICES("[{\"device\":\"cxi 0\",\"id\":1}]"), "invalid", "services[0].device"},
        {SERVICES("[{\"device\":\"cxi0:1,cxi1\",\"id\":1}]"), "invalid", "services[0].device"},
        {SERVICES("[{\"device\":\"abcdefghijklmnop\",\"id\":1}]"), "invalid", "services[0].device"},
        {SERVICES("[{\"device\":\"cxi0\",\"id\":1,\"vni\":7}]"), "unknown-field", "vni"},
        {SERVICES("[{\"device\":\"cxi0\",\"id\":1},{\"device\":\"cxi0\",\"id\":1}]"), "invalid",
         "services[1]"},
        {"{\"state\":\"destroyed\",\"number\":1,\"services\":[{\"device\":\"cxi0\",\"id\":1}]}",
         "invalid", "services"},
    };
    struct node_body body;
    struct problem problem;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(cases[i].text, &body, &problem), -1);
        assert_int_equal(problem.status, 422);
        assert_string_equal(problem.field, cases[i].field);
        assert_string_equal(problem.code, cases[i].code);
        assert_true(problem.detail[0] != '\0');
    }
}

static void bad_json__is_no_report(void **state)
{
    (void)state;
    static const char *const cases[] = {"", "[]", "{\"state\":\"created\",\"number\":1",
                                        MORE("\"number\":2"), "\xff"};
    struct node_body body;
    struct problem problem;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(cases[i], &body, &problem), -1);
        assert_int_equal(problem.status, 400);
        assert_string_equal(problem.code, "bad-json");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report__is_read_whole),
        cmocka_unit_test(report__needs_no_services),
        cmocka_unit_test(vnis__are_read_and_may_be_missing),
        cmocka_unit_test(services__may_share_a_nic),
        cmocka_unit_test(services__may_be_sixteen),
        cmocka_unit_test(services__too_long_together_are_refused),
        cmocka_unit_test(bad_value__is_named),
        cmocka_unit_test(bad_json__is_no_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
