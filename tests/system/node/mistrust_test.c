/* SPDX-License-Identifier: Apache-2.0 */
/* A broker that is not what it claims to be, or has lost what it knew, ends no job and gets nothing
 * that is not its own (B3, F9, F11). */

#include "tests/system/node/stand.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *own_job(const char *job, uint64_t number, const char *vni)
{
    static char texts[4][512];
    char *text = texts[number % 4];
    snprintf(text, sizeof texts[0],
             "{\"cluster\":\"elcap\",\"job\":\"%s\",\"number\":%llu,\"state\":\"active\","
             "\"uid\":%u,\"nodes\":\"n[1-2]\",\"node_count\":2,\"cores_per_node\":8,\"vnis\":[%s],"
             "\"traffic_classes\":[\"best_effort\"]}",
             job, (unsigned long long)number, (unsigned)geteuid(), vni);
    return text;
}

/* 1 and 10 are the system's, and what is outside of the pool may be anybody's. */
static void vni__that_no_job_may_have_gets_no_service(void **state)
{
    struct stand *stand = *state;
    static const char *const vnis[] = {"1", "10", "1023", "0", "1024,10"};
    for (unsigned int i = 0; i < sizeof vnis / sizeof vnis[0]; i++) {
        pretender_set_job(stand->broker, "f17", stand_job("f17", 4711, vnis[i], 8));
        assert_int_equal(stand_run(stand, "prolog --job f17"), 6);
        stand_expect_err(stand, "nothing is done for it");
        assert_int_equal(stand_run(stand, "prolog --job f17 --dry-run"), 6);
        assert_int_equal(stand_services(stand, NULL), 0);
        assert_false(stand_remembers(stand));
    }
    assert_string_equal(pretender_reports(stand->broker), "");
    stand_set_config(stand, "vnis = 10,500-600\n");
    pretender_set_job(stand->broker, "f17", stand_job("f17", 4711, "500", 8));
    assert_int_equal(stand_run(stand, "prolog --job f17"), 0);
    assert_int_equal(stand_services(stand, NULL), 4);
    pretender_set_job(stand->broker, "f18", stand_job("f18", 4712, "10", 8));
    assert_int_equal(stand_run(stand, "prolog --job f18"), 6);
    stand_expect_err(stand, "VNI 10, which is the system's");
    pretender_set_job(stand->broker, "f18", stand_job("f18", 4712, "1024", 8));
    assert_int_equal(stand_run(stand, "prolog --job f18"), 6);
    stand_expect_err(stand, "compare vnis in node.conf with the broker's [vni] pool");
}

/* Nor is a service destroyed for it, which somebody else made with such a VNI. */
static void vni__that_no_job_may_have_is_not_taken_from_anybody(void **state)
{
    struct stand *stand = *state;
    char note[128];
    stand_set_config(stand, "vnis = 500-600\n");
    pretender_set_job(stand->broker, "f17", stand_job("f17", 4711, "500", 8));
    assert_int_equal(stand_run(stand, "prolog --job f17"), 0);
    snprintf(note, sizeof note, "%s/spool/4711.json", stand->folder);
    assert_int_equal(remove(note), 0);
    stand_set_config(stand, "");
    pretender_set_job(stand->broker, "f18", stand_job("f18", 4712, "500", 8));
    assert_int_equal(stand_run(stand, "epilog --job f18"), 0);
    stand_expect_err(stand, "nothing is done for it");
    assert_int_equal(stand_services(stand, NULL), 4);
}

/* A job that was prepared while the broker was away, and runs when it is back without its ledger.
 * Its owner is who runs this test. */
static void prepare_unknown(struct stand *stand)
{
    pretender_go(stand->broker);
    assert_int_equal(
        stand_run_with(stand, own_job("f17", 4711, "1024"), "prolog --job f17 --reservation -"), 0);
    pretender_come(stand->broker);
}

static void unknown__job_that_runs_keeps_its_services(void **state)
{
    struct stand *stand = *state;
    prepare_unknown(stand);
    assert_int_equal(stand_run(stand, "housekeeping --job f99"), 0);
    stand_expect_err(stand,
                     "warning: job elcap/f17: the pretended broker says not-found; its owner "
                     "has processes here, so its services stay until its epilog\n");
    assert_int_equal(stand_services(stand, NULL), 4);
    /* It is said once. */
    assert_int_equal(stand_run(stand, "tend"), 0);
    assert_string_equal(stand->err, "");
    assert_int_equal(stand_run(stand, "clean"), 0);
    stand_expect_err(stand, "the broker does not know job elcap/f17, but uid ");
    assert_int_equal(stand_services(stand, NULL), 4);
    assert_int_equal(stand_run(stand, "epilog --job f17"), 0);
    assert_int_equal(stand_services(stand, NULL), 0);
    assert_false(stand_remembers(stand));
}

/* Prologs run again. */
static void unknown__job_that_runs_is_not_undone_by_a_second_prolog(void **state)
{
    struct stand *stand = *state;
    const char *job = own_job("f17", 4711, "1024");
    pretender_set_job(stand->broker, "f17", job);
    assert_int_equal(stand_run(stand, "prolog --job f17"), 0);
    pretender_set_job(stand->broker, "f17", NULL);
    assert_int_equal(stand_run_with(stand, job, "prolog --job f17 --reservation -"), 3);
    assert_int_equal(stand_services(stand, NULL), 4);
    /* What it makes itself nobody uses yet. */
    job = own_job("f18", 4712, "1025");
    assert_int_equal(stand_run_with(stand, job, "prolog --job f18 --reservation -"), 3);
    assert_int_equal(stand_services(stand, NULL), 4);
}

/* That its VNIs are another's by now, only who has given them knows (I1). */
static void given_back__vnis_leave_no_service(void **state)
{
    struct stand *stand = *state;
    prepare_unknown(stand);
    pretender_answer(stand->broker, 409, "vnis-given-back");
    assert_int_equal(stand_run(stand, "tend"), 0);
    stand_expect_err(stand, "its services are destroyed");
    assert_int_equal(stand_services(stand, NULL), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, stand_create, stand_destroy)
    const struct CMUnitTest tests[] = {
        TEST(vni__that_no_job_may_have_gets_no_service),
        TEST(vni__that_no_job_may_have_is_not_taken_from_anybody),
        TEST(unknown__job_that_runs_keeps_its_services),
        TEST(unknown__job_that_runs_is_not_undone_by_a_second_prolog),
        TEST(given_back__vnis_leave_no_service),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
