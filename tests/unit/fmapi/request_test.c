/* SPDX-License-Identifier: Apache-2.0 */

#include <jansson.h>

#include "base/error.h"
#include "fmapi/wire/request.h"
#include "tests/unit/unit.h"

UNIT(request_call__speaks_as_the_table_says)
{
    struct request request;

    request = request_call("https://f", FMCALL_RESERVE,
                           &(struct fmcall_about){.name = "elcap-f2Rs", .addresses = 23});
    assert_string_equal(request.method, "POST");
    assert_string_equal(request.url, "https://f/fabric/collectives/jobs");
    assert_string_equal(request.body, "{\"jobID\":\"elcap-f2Rs\",\"mcastLimit\":23}");
    request_release(&request);

    request = request_call("https://f", FMCALL_CHECK,
                           &(struct fmcall_about){.name = "elcap-f2Rs", .addresses = 0});
    assert_string_equal(request.method, "GET");
    assert_string_equal(request.url, "https://f/fabric/collectives/jobs/elcap-f2Rs");
    assert_null(request.body);
    request_release(&request);

    request = request_call("https://f", FMCALL_RELEASE,
                           &(struct fmcall_about){.name = "elcap-f2Rs", .addresses = 0});
    assert_string_equal(request.method, "DELETE");
    assert_string_equal(request.url, "https://f/fabric/collectives/jobs/elcap-f2Rs");
    assert_null(request.body);
    request_release(&request);
}

/* Whatever a name holds, it stays one path segment and one JSON string. */
UNIT(request_call__escapes_names)
{
    struct request request;

    request = request_call("http://f", FMCALL_RELEASE,
                           &(struct fmcall_about){.name = "c-a:b@c+1/../x?y#z%", .addresses = 0});
    assert_string_equal(request.url, "http://f/fabric/collectives/jobs/"
                                     "c-a%3Ab%40c%2B1%2F..%2Fx%3Fy%23z%25");
    request_release(&request);

    request = request_call("http://f", FMCALL_RESERVE,
                           &(struct fmcall_about){.name = "c-\"\\", .addresses = UINT32_MAX});
    assert_string_equal(request.body, "{\"jobID\":\"c-\\\"\\\\\",\"mcastLimit\":4294967295}");
    request_release(&request);
}

/* F19. Slurm's PATCH as it was recorded, blanks aside. */
UNIT(request_step__speaks_as_the_table_says)
{
    struct request request;

    request = request_call("https://f", FMCALL_STEPS,
                           &(struct fmcall_about){.name = "elcap-f2Rs", .step = NULL, .tree = 0});
    assert_string_equal(request.method, "GET");
    assert_string_equal(request.url, "https://f/fabric/collectives/jobs/elcap-f2Rs");
    assert_null(request.body);
    assert_true(request.repeatable);
    request_release(&request);

    request = request_call("https://f", FMCALL_END_STEP,
                           &(struct fmcall_about){.name = "mockc-3", .step = "0", .tree = 0});
    assert_string_equal(request.method, "PATCH");
    assert_string_equal(request.url, "https://f/fabric/collectives/jobs/mockc-3");
    assert_string_equal(request.body, "{\"jobSteps\":{\"0\":null}}");
    assert_string_equal(request.body_type, "application/json");
    request_release(&request);

    request = request_call("https://f", FMCALL_END_TREE,
                           &(struct fmcall_about){.name = NULL, .step = NULL, .tree = 8191});
    assert_string_equal(request.method, "DELETE");
    assert_string_equal(request.url, "https://f/fabric/collectives/multicasts/8191");
    assert_null(request.body);
    assert_false(request.repeatable); /* the number can be another tree's by then */
    request_release(&request);
}

/* A step is one key of one object, whatever it holds: never two steps, never the whole job. */
UNIT(request_step__names_one_step_only)
{
    static const char *const steps[] = {
        "/fA/fB", "0", "0\":null,\"1", "\\", "\\\"", "a\nb", "%22", "{}", "../x", "",
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct request request;
        request = request_call(
            "http://f", FMCALL_END_STEP,
            &(struct fmcall_about){.name = "c-a/../b?x#", .step = steps[i], .tree = 0});
        assert_string_equal(request.url, "http://f/fabric/collectives/jobs/c-a%2F..%2Fb%3Fx%23");
        json_t *body = json_loads(request.body, JSON_REJECT_DUPLICATES, NULL);
        const json_t *named = json_object_get(body, "jobSteps");
        assert_int_equal(json_object_size(body), 1);
        assert_int_equal(json_object_size(named), 1);
        assert_true(json_is_null(json_object_get(named, steps[i])));
        json_decref(body);
        request_release(&request);
    }
}

UNIT(request_page__starts_at_the_list)
{
    struct request request;

    request = request_page("http://f/b", NULL);
    assert_string_equal(request.method, "GET");
    assert_string_equal(request.url, "http://f/b/fabric/collectives/jobs/");
    assert_int_equal(request.answer_max, 8 << 20);
    request_release(&request);

    request = request_page("http://f/b", strdup("http://f/b/next"));
    assert_string_equal(request.url, "http://f/b/next");
    request_release(&request);
}

UNIT_RUN(NULL, NULL)
