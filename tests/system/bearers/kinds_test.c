/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/bearers/yard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* F19: what a session token opens differs from fabric manager to fabric manager. */

#define STEPS "/v1/reservation/steps/"

static struct yard_job job_with_trees(struct yard *yard)
{
    struct yard_job job = yard_reserve(yard, "f1");
    yard_plant(yard, &job, "/fA/fB", 0);
    yard_plant(yard, &job, "/fA/fB", 4);
    yard_plant(yard, &job, "/fA/fC", 8);
    yard_plant(yard, &job, "/fX", 12);
    return job;
}

static void await_gone(struct yard *yard, const struct yard_job *job, const char *path)
{
    struct answer answer;
    int status = yard_ask(yard, "DELETE", path, job->token, NULL, &answer);
    if (status != 200)
        fail_msg("%s: %d %s", path, status, answer.body);
    answer_release(&answer);
}

/* How many requests mock-fm saw that showed a session token, and changed something. */
static size_t by_session(struct yard *yard)
{
    struct plainhttp_reply reply;
    size_t i, count = 0;
    json_t *entry;
    assert_int_equal(
        plainhttp_call(stage_fm_http(yard_stage(yard)), "GET", "/mock/log?since=0", NULL, &reply),
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
    struct yard *yard = yard_open(&(struct yard_options){.session_tokens = kind, .hwcoll = hwcoll});
    struct yard_job job = job_with_trees(yard);
    await_gone(yard, &job, STEPS "%2FfA%2FfB?wait=50s");
    assert_int_equal(yard_trees(yard, &job, "/fA/fB"), 0);
    assert_int_equal(yard_trees(yard, &job, "/fA/fC"), 1);
    assert_int_equal(by_session(yard) > 0, session);
    await_gone(yard, &job, STEPS "%2FfA?below=yes&wait=50s");
    assert_int_equal(yard_trees(yard, &job, "/fA/fC"), 0);
    assert_int_equal(yard_trees(yard, &job, "/fX"), 1);
    assert_int_equal(yard_status(yard, "cleanups", "given_up"), 0);
    yard_close(yard);
}

static void own_job__opens_all(void **state)
{
    (void)state;
    steps_go("own-job", NULL, true);
}

static void get__opens_trees_one_by_one(void **state)
{
    (void)state;
    steps_go("get", NULL, true);
}

/* Which steps lie below, and which trees a step has, the token is not told: the login is. */
static void patch_and_trees_only__need_the_login_where_the_site_allows_it(void **state)
{
    (void)state;
    steps_go("patch", "cleanup_login = yes", true);
    steps_go("trees-only", "cleanup_login = yes", true);
}

/* Without that it is given up at once, with a sentence, and the trees stay. */
static void refusal__is_told_and_nothing_else_is_tried(void **state)
{
    (void)state;
    char detail[256];
    struct yard *yard = yard_open(&(struct yard_options){.session_tokens = "trees-only"});
    struct yard_job job = job_with_trees(yard);
    yard_tell_fm(yard, "POST", "/mock/faults",
                 "{\"method\":\"DELETE\",\"session\":true,\"status\":403}");
    yard_refused(yard, "DELETE", STEPS "%2FfA%2FfB?wait=50s", job.token, NULL, 504, "given-up",
                 detail);
    assert_non_null(strstr(detail, "cleanup_login"));
    assert_int_equal(yard_trees(yard, &job, "/fA/fB"), 2);
    assert_int_equal(yard_status(yard, "cleanups", "given_up"), 1);
    assert_int_equal(yard_status(yard, "cleanups", "pending"), 0);
    yard_close(yard);
}

/* Nobody is there for longer than it is tried: the trees stay until the job ends. */
static void time__comes_to_an_end(void **state)
{
    (void)state;
    struct yard *yard = yard_open(&(struct yard_options){.hwcoll = "cleanup_timeout = 200ms"});
    struct yard_job job = job_with_trees(yard);
    stage_kill_fm(yard_stage(yard));
    assert_int_equal(yard_ask(yard, "DELETE", STEPS "%2FfX", job.token, NULL, NULL), 202);
    yard_await_status(yard, "cleanups", "given_up", 1);
    assert_int_equal(yard_status(yard, "cleanups", "pending"), 0);
    assert_int_equal(stage_start_fm(yard_stage(yard)), 0);
    assert_int_equal(yard_trees(yard, &job, "/fX"), 1);
    yard_close(yard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_job__opens_all),
        cmocka_unit_test(get__opens_trees_one_by_one),
        cmocka_unit_test(patch_and_trees_only__need_the_login_where_the_site_allows_it),
        cmocka_unit_test(refusal__is_told_and_nothing_else_is_tried),
        cmocka_unit_test(time__comes_to_an_end),
    };
    return cmocka_run_group_tests_name("bearers_kinds", tests, NULL, NULL);
}
