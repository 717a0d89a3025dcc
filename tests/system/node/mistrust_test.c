/* SPDX-License-Identifier: Apache-2.0 */
/* A broker that is not what it claims to be, or has lost what it knew, ends no job and gets nothing
 * that is not its own (B3, F9, F11). */

#include "tests/system/node/fixture.h"

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
    struct fixture *fixture = *state;
    static const char *const vnis[] = {"1", "10", "1023", "0", "1024,10"};
    for (unsigned int i = 0; i < sizeof vnis / sizeof vnis[0]; i++) {
        fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, vnis[i], 8));
        EXPECT_RUN(6, "prolog --job f17");
        fixture_expect_err(fixture, "nothing is done for it");
        EXPECT_RUN_LEAVES(6, 0, "prolog --job f17 --dry-run");
        assert_false(fixture_remembers(fixture));
    }
    assert_string_equal(fakebroker_reports(fixture->broker), "");
    fixture_set_config(fixture, "vnis = 10,500-600\n");
    fixture_make_services(fixture, "f17", 4711, "500", 8);
    EXPECT_SERVICES(4);
    fakebroker_set_job(fixture->broker, "f18", fixture_job("f18", 4712, "10", 8));
    EXPECT_RUN(6, "prolog --job f18");
    fixture_expect_err(fixture, "VNI 10, which is the system's");
    fakebroker_set_job(fixture->broker, "f18", fixture_job("f18", 4712, "1024", 8));
    EXPECT_RUN(6, "prolog --job f18");
    fixture_expect_err(fixture, "compare vnis in node.conf with the broker's [vni] pool");
}

/* Nor is a service destroyed for it, which somebody else made with such a VNI. */
static void vni__that_no_job_may_have_is_not_taken_from_anybody(void **state)
{
    struct fixture *fixture = *state;
    char note[128];
    fixture_set_config(fixture, "vnis = 500-600\n");
    fixture_make_services(fixture, "f17", 4711, "500", 8);
    snprintf(note, sizeof note, "%s/spool/4711.json", fixture->folder);
    assert_int_equal(remove(note), 0);
    fixture_set_config(fixture, "");
    fakebroker_set_job(fixture->broker, "f18", fixture_job("f18", 4712, "500", 8));
    EXPECT_RUN(0, "epilog --job f18");
    fixture_expect_err(fixture, "nothing is done for it");
    EXPECT_SERVICES(4);
}

/* A job that was prepared while the broker was away, and runs when it is back without its ledger.
 * Its owner is who runs this test. */
static void prepare_unknown(struct fixture *fixture)
{
    fakebroker_go(fixture->broker);
    assert_int_equal(
        fixture_run_with(fixture, own_job("f17", 4711, "1024"), "prolog --job f17 --reservation -"),
        0);
    fakebroker_come(fixture->broker);
}

static void unknown__job_that_runs_keeps_its_services(void **state)
{
    struct fixture *fixture = *state;
    prepare_unknown(fixture);
    EXPECT_RUN(0, "housekeeping --job f99");
    fixture_expect_err(fixture,
                       "warning: job elcap/f17: the pretended broker says not-found; its owner "
                       "has processes here, so its services stay until its epilog\n");
    EXPECT_SERVICES(4);
    /* It is said once. */
    EXPECT_RUN(0, "tend");
    assert_string_equal(fixture->err, "");
    EXPECT_RUN(0, "clean");
    fixture_expect_err(fixture, "the broker does not know job elcap/f17, but uid ");
    EXPECT_SERVICES(4);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17");
    assert_false(fixture_remembers(fixture));
}

/* Prologs run again. */
static void unknown__job_that_runs_is_not_undone_by_a_second_prolog(void **state)
{
    struct fixture *fixture = *state;
    const char *job = own_job("f17", 4711, "1024");
    fakebroker_set_job(fixture->broker, "f17", job);
    EXPECT_RUN(0, "prolog --job f17");
    fakebroker_set_job(fixture->broker, "f17", NULL);
    assert_int_equal(fixture_run_with(fixture, job, "prolog --job f17 --reservation -"), 3);
    EXPECT_SERVICES(4);
    /* What it makes itself nobody uses yet. */
    job = own_job("f18", 4712, "1025");
    assert_int_equal(fixture_run_with(fixture, job, "prolog --job f18 --reservation -"), 3);
    EXPECT_SERVICES(4);
}

/* That its VNIs are another's by now, only who has given them knows (I1). */
static void given_back__vnis_leave_no_service(void **state)
{
    struct fixture *fixture = *state;
    prepare_unknown(fixture);
    fakebroker_answer(fixture->broker, 409, "vnis-given-back");
    EXPECT_RUN(0, "tend");
    fixture_expect_err(fixture, "its services are destroyed");
    EXPECT_SERVICES(0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_create, fixture_destroy)

UNIT_MAIN(TEST(vni__that_no_job_may_have_gets_no_service),
          TEST(vni__that_no_job_may_have_is_not_taken_from_anybody),
          TEST(unknown__job_that_runs_keeps_its_services),
          TEST(unknown__job_that_runs_is_not_undone_by_a_second_prolog),
          TEST(given_back__vnis_leave_no_service))
