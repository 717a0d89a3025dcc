/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/bearers/fixture.h"
#include "tests/unit/unit.h"

/* F19: what a session token opens differs from fabric manager to fabric manager. */

#define STEPS "/v1/reservation/steps/"

static struct fixture_job job_with_trees(struct fixture *fixture)
{
    struct fixture_job job = fixture_reserve(fixture, "f1");
    fixture_plant(fixture, &job, "/fA/fB", 0);
    fixture_plant(fixture, &job, "/fA/fB", 4);
    fixture_plant(fixture, &job, "/fA/fC", 8);
    fixture_plant(fixture, &job, "/fX", 12);
    return job;
}

static void await_gone(struct fixture *fixture, const struct fixture_job *job, const char *path)
{
    struct answer answer;
    int status = fixture_ask(fixture, "DELETE", path, job->token, NULL, &answer);
    if (status != 200)
        fail_msg("%s: %d %s", path, status, answer.body);
    answer_release(&answer);
}

/* How many requests mock-fm saw that showed a session token, and changed something. */
static size_t by_session(struct fixture *fixture)
{
    struct plainhttp_reply reply;
    size_t i, count = 0;
    json_t *entry;
    assert_int_equal(plainhttp_call(testbed_fm_http(fixture_stage(fixture)), "GET",
                                    "/mock/log?since=0", NULL, &reply),
                     200);
    json_array_foreach(json_object_get(reply.json, "entries"), i, entry)
    {
        const char *method = json_string_value(json_object_get(entry, "method"));
        count += json_is_true(json_object_get(entry, "session")) && method &&
                 (!strcmp(method, "PATCH") || !strcmp(method, "DELETE"));
    }
    plainhttp_reply_release(&reply);
    return count;
}

/* The job's own token does it: in one call where it opens the job, else tree by tree. */
static void steps_go(const char *kind, const char *hwcoll, bool session)
{
    struct fixture *fixture =
        fixture_open(&(struct fixture_options){.session_tokens = kind, .hwcoll = hwcoll});
    struct fixture_job job = job_with_trees(fixture);
    await_gone(fixture, &job, STEPS "%2FfA%2FfB?wait=50s");
    assert_int_equal(fixture_trees(fixture, &job, "/fA/fB"), 0);
    assert_int_equal(fixture_trees(fixture, &job, "/fA/fC"), 1);
    assert_int_equal(by_session(fixture) > 0, session);
    await_gone(fixture, &job, STEPS "%2FfA?below=yes&wait=50s");
    assert_int_equal(fixture_trees(fixture, &job, "/fA/fC"), 0);
    assert_int_equal(fixture_trees(fixture, &job, "/fX"), 1);
    assert_int_equal(fixture_status(fixture, "cleanups", "given_up"), 0);
    fixture_close(fixture);
}

static void own_job__opens_all(void **state)
{
    steps_go("own-job", NULL, true);
}

static void get__opens_trees_one_by_one(void **state)
{
    steps_go("get", NULL, true);
}

/* Which steps lie below, and which trees a step has, the token is not told: the login is. */
static void patch_and_trees_only__need_the_login_where_the_site_allows_it(void **state)
{
    steps_go("patch", "cleanup_login = yes", true);
    steps_go("trees-only", "cleanup_login = yes", true);
}

/* Without that it is given up at once, with a sentence, and the trees stay. */
static void refusal__is_told_and_nothing_else_is_tried(void **state)
{
    char detail[256];
    struct fixture *fixture =
        fixture_open(&(struct fixture_options){.session_tokens = "trees-only"});
    struct fixture_job job = job_with_trees(fixture);
    fixture_tell_fm(fixture, "POST", "/mock/faults",
                    "{\"method\":\"DELETE\",\"session\":true,\"status\":403}");
    fixture_refused(fixture, "DELETE", STEPS "%2FfA%2FfB?wait=50s", job.token, NULL, 504,
                    "given-up", detail);
    assert_non_null(strstr(detail, "cleanup_login"));
    assert_int_equal(fixture_trees(fixture, &job, "/fA/fB"), 2);
    assert_int_equal(fixture_status(fixture, "cleanups", "given_up"), 1);
    assert_int_equal(fixture_status(fixture, "cleanups", "pending"), 0);
    fixture_close(fixture);
}

/* Nobody is there for longer than it is tried: the trees stay until the job ends. */
static void time__comes_to_an_end(void **state)
{
    struct fixture *fixture =
        fixture_open(&(struct fixture_options){.hwcoll = "cleanup_timeout = 200ms"});
    struct fixture_job job = job_with_trees(fixture);
    testbed_kill_fm(fixture_stage(fixture));
    assert_int_equal(fixture_ask(fixture, "DELETE", STEPS "%2FfX", job.token, NULL, NULL), 202);
    fixture_await_status(fixture, "cleanups", "given_up", 1);
    assert_int_equal(fixture_status(fixture, "cleanups", "pending"), 0);
    assert_int_equal(testbed_start_fm(fixture_stage(fixture)), 0);
    assert_int_equal(fixture_trees(fixture, &job, "/fX"), 1);
    fixture_close(fixture);
}

UNIT_MAIN(cmocka_unit_test(own_job__opens_all), cmocka_unit_test(get__opens_trees_one_by_one),
          cmocka_unit_test(patch_and_trees_only__need_the_login_where_the_site_allows_it),
          cmocka_unit_test(refusal__is_told_and_nothing_else_is_tried),
          cmocka_unit_test(time__comes_to_an_end))
