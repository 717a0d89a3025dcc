/* SPDX-License-Identifier: Apache-2.0 */
/* Leftovers go, live jobs' services and the system's stay (F11). */

#include "tests/system/node/fixture.h"

#include <stdio.h>
#include <string.h>

/* Two jobs with services here: f17 is over at the broker, f18 is active. */
static void make_two(struct fixture *fixture)
{
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 8));
    fakebroker_set_job(fixture->broker, "f18", fixture_job("f18", 4712, "1025", 8));
    EXPECT_RUN(0, "prolog --job f17");
    EXPECT_RUN(0, "prolog --job f18");
    fakebroker_set_job(fixture->broker, "f17", fixture_released("f17", 4711, "1024"));
    EXPECT_SERVICES(8);
}

static void forget(struct fixture *fixture, const char *number)
{
    char path[128];
    snprintf(path, sizeof path, "%s/spool/%s.json", fixture->folder, number);
    assert_int_equal(remove(path), 0);
}

static void clean__takes_the_jobs_that_are_over(void **state)
{
    struct fixture *fixture = *state;
    make_two(fixture);
    EXPECT_RUN(0, "clean --dry-run");
    assert_string_equal(fixture->out, "cxi0: would destroy service 2 of job elcap/f17\n"
                                      "cxi1: would destroy service 2 of job elcap/f17\n"
                                      "cxi2: would destroy service 2 of job elcap/f17\n"
                                      "cxi3: would destroy service 2 of job elcap/f17\n");
    EXPECT_SERVICES(8);
    EXPECT_RUN(0, "clean");
    assert_string_equal(fixture->err, "");
    EXPECT_SERVICES(4);
    EXPECT_RUN(0, "env --job f18");
    const char *reports = fakebroker_reports(fixture->broker);
    assert_non_null(strstr(reports, "f17/n1 destroyed 4711\n"));
    assert_null(strstr(reports, "f18/n1 destroyed"));
    /* One that the broker has forgotten, and one that was requeued since. */
    fakebroker_set_job(fixture->broker, "f18", NULL);
    EXPECT_RUN_LEAVES(0, 0, "clean");
}

static void clean__takes_an_earlier_life_and_leaves_the_present_one(void **state)
{
    struct fixture *fixture = *state;
    make_two(fixture);
    fixture_make_services(fixture, "f17", 4713, "1026", 8);
    EXPECT_SERVICES(12);
    EXPECT_RUN_LEAVES(0, 8, "clean");
    EXPECT_RUN(0, "env --job f17 --format slurm");
    fixture_expect_out(fixture, "SLINGSHOT_VNIS=1026\n");
}

/* A broker with an old ledger does not know of the job's present reservation: no reason to end it.
 */
static void clean__believes_no_broker_that_knows_less(void **state)
{
    struct fixture *fixture = *state;
    make_two(fixture);
    fakebroker_set_job(fixture->broker, "f17", fixture_released("f17", 4000, "1024"));
    EXPECT_RUN_LEAVES(0, 8, "clean");
}

static void clean__without_the_broker_takes_nothing(void **state)
{
    struct fixture *fixture = *state;
    make_two(fixture);
    forget(fixture, "4711");
    fakebroker_go(fixture->broker);
    EXPECT_RUN(4, "clean");
    fixture_expect_err(fixture,
                       "whether job elcap/f18 is active cannot be known, so its services are "
                       "left alone");
    EXPECT_RUN(4, "clean --all");
    fixture_expect_err(fixture,
                       "which jobs are active cannot be known without the broker, so nothing "
                       "is cleaned");
    EXPECT_SERVICES(8);
}

/* What nobody remembers to have made: only with --all, or in the pool. */
static void clean__all_takes_what_is_unknown_but_of_no_active_job(void **state)
{
    struct fixture *fixture = *state;
    make_two(fixture);
    forget(fixture, "4711");
    forget(fixture, "4712");
    EXPECT_RUN_LEAVES(0, 8, "clean");
    EXPECT_RUN(0, "clean --all --dry-run");
    fixture_expect_out(fixture, "cxi3: would destroy service 2 (uid 5588, VNI 1024)\n");
    assert_null(strstr(fixture->out, "1025"));
    assert_null(strstr(fixture->out, "system"));
    EXPECT_SERVICES(8);
    EXPECT_RUN_LEAVES(0, 4, "clean --all"); /* f18 is active */
    fakebroker_set_job(fixture->broker, "f18", NULL);
    EXPECT_RUN_LEAVES(0, 0, "clean --all");
    /* And the default service is there still. */
    EXPECT_RUN(0, "list");
    fixture_expect_out(fixture, "system 1,10");
}

static void clean__takes_what_is_unknown_in_the_pool(void **state)
{
    struct fixture *fixture = *state;
    make_two(fixture);
    forget(fixture, "4711");
    fixture_set_config(fixture, "pool = 3000-4000\n");
    EXPECT_RUN_LEAVES(0, 8, "clean");
    fixture_set_config(fixture, "pool = 1024-4000\n");
    EXPECT_RUN_LEAVES(0, 4, "clean");
}

/* A node is shown what may run on it, and that is enough. */
static void clean__all_by_the_node_itself(void **state)
{
    struct fixture *fixture = *state;
    make_two(fixture);
    forget(fixture, "4711");
    forget(fixture, "4712");
    fakebroker_set_admin(fixture->broker, false);
    EXPECT_RUN(0, "clean --all");
    assert_string_equal(fixture->err, "");
    EXPECT_SERVICES(4); /* f18 is active */
}

/* Whoever is shown some jobs only must not take the others' services for leftovers. */
static void clean__all_needs_to_see_every_job(void **state)
{
    struct fixture *fixture = *state;
    make_two(fixture);
    forget(fixture, "4711");
    fakebroker_set_admin(fixture->broker, false);
    fakebroker_set_hidden(fixture->broker, -1);
    EXPECT_RUN(1, "clean --all");
    fixture_expect_err(fixture, "the pretended broker says forbidden");
    fixture_expect_err(fixture, "which jobs may be active here cannot be known");
    EXPECT_SERVICES(8);
    fakebroker_set_hidden(fixture->broker, 3);
    EXPECT_RUN(1, "clean --all");
    fixture_expect_err(fixture, "of one of 3 active jobs that may run on n1 and are not shown");
    EXPECT_SERVICES(8);
}

/* Its name alone does not show it to the node: whether it is over, the list for the node says. */
static void clean__leaves_a_job_that_named_no_nodes(void **state)
{
    static const char unnamed[] =
        "{\"cluster\":\"elcap\",\"job\":\"f17\",\"number\":4711,\"state\":\"active\",\"uid\":5588,"
        "\"node_count\":2,\"vnis\":[1024],\"traffic_classes\":[\"best_effort\"],"
        "\"hwcoll\":{\"state\":\"off\"}}";
    struct fixture *fixture = *state;
    fakebroker_set_admin(fixture->broker, false);
    fakebroker_set_job(fixture->broker, "f17", unnamed);
    assert_int_equal(fixture_run_with(fixture, unnamed, "prolog --job f17 --reservation -"), 0);
    EXPECT_SERVICES(4);
    EXPECT_RUN_LEAVES(0, 4, "clean");
    fakebroker_set_hidden(fixture->broker, -1);
    EXPECT_RUN(1, "clean");
    fixture_expect_err(fixture, "whether job elcap/f17 is active cannot be known");
    EXPECT_SERVICES(4);
    /* Nor does it help that nobody here remembers it. */
    forget(fixture, "4711");
    fakebroker_set_hidden(fixture->broker, 0);
    EXPECT_RUN_LEAVES(0, 4, "clean --all");
    fakebroker_set_job(fixture->broker, "f17", NULL);
    EXPECT_RUN_LEAVES(0, 0, "clean --all");
}

/* One refusal is one line, however many jobs it is about. */
static void clean__says_a_refusal_once(void **state)
{
    static const char *const jobs[] = {
        "{\"cluster\":\"elcap\",\"job\":\"f17\",\"number\":4711,\"state\":\"active\",\"uid\":5588,"
        "\"node_count\":2,\"vnis\":[1024],\"hwcoll\":{\"state\":\"off\"}}",
        "{\"cluster\":\"elcap\",\"job\":\"f18\",\"number\":4712,\"state\":\"active\",\"uid\":5588,"
        "\"node_count\":2,\"vnis\":[1025],\"hwcoll\":{\"state\":\"off\"}}"};
    struct fixture *fixture = *state;
    fakebroker_set_job(fixture->broker, "f17", jobs[0]);
    fakebroker_set_job(fixture->broker, "f18", jobs[1]);
    EXPECT_RUN(0, "prolog --job f17");
    EXPECT_RUN(0, "prolog --job f18");
    fakebroker_set_admin(fixture->broker, false);
    fakebroker_set_hidden(fixture->broker, -1);
    EXPECT_RUN(1, "clean");
    assert_string_equal(fixture->err,
                        "mcast-node: the pretended broker says forbidden\n"
                        "mcast-node: whether job elcap/f17 is active cannot be known, so its "
                        "services are left alone\n"
                        "mcast-node: whether job elcap/f18 is active cannot be known, so its "
                        "services are left alone\n");
    EXPECT_SERVICES(8);
}

/* A broker that lost its ledger has found a job at the fabric manager, and not which VNIs it has.
 */
static void clean__all_waits_for_jobs_whose_vnis_are_lost(void **state)
{
    static const char adopted[] =
        "{\"cluster\":\"elcap\",\"job\":\"f18\",\"number\":3,\"state\":\"active\",\"vnis\":[],"
        "\"traffic_classes\":[],\"hwcoll\":{\"state\":\"reserved\"}}";
    struct fixture *fixture = *state;
    make_two(fixture);
    forget(fixture, "4711");
    forget(fixture, "4712");
    fakebroker_set_job(fixture->broker, "f18", adopted);
    EXPECT_RUN(1, "clean --all");
    fixture_expect_err(fixture, "they could be job elcap/f18's, whose VNIs the broker has lost");
    EXPECT_SERVICES(8);
    fakebroker_set_job(fixture->broker, "f18", NULL);
    EXPECT_RUN_LEAVES(0, 0, "clean --all");
}

static void clean__says_when_something_stays(void **state)
{
    struct fixture *fixture = *state;
    make_two(fixture);
    fixture_set_cxi(fixture,
                    "nics = 4\n[fault stuck]\ncall = destroy_svc\nnic = cxi1\nerrno = EBUSY\n");
    EXPECT_RUN_LEAVES(5, 5, "clean --retry-busy 20ms");
    forget(fixture, "4711");
    EXPECT_RUN(5, "clean --all");
    fixture_expect_err(fixture, "cxi1: service 2 cannot be destroyed: a process uses it");
    EXPECT_SERVICES(5);
}

/* A prolog at work has noted what it will make, and clean asks the broker about it. */
static void clean__leaves_a_job_that_is_just_beginning(void **state)
{
    struct fixture *fixture = *state;
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    assert_true(fixture_edit_spool(fixture, "4711", "\"made\"", "\"intended\""));
    EXPECT_RUN_LEAVES(0, 4, "clean --all");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_create, fixture_destroy)

UNIT_MAIN(TEST(clean__takes_the_jobs_that_are_over),
          TEST(clean__takes_an_earlier_life_and_leaves_the_present_one),
          TEST(clean__believes_no_broker_that_knows_less),
          TEST(clean__without_the_broker_takes_nothing),
          TEST(clean__all_takes_what_is_unknown_but_of_no_active_job),
          TEST(clean__takes_what_is_unknown_in_the_pool), TEST(clean__all_by_the_node_itself),
          TEST(clean__all_needs_to_see_every_job), TEST(clean__leaves_a_job_that_named_no_nodes),
          TEST(clean__says_a_refusal_once), TEST(clean__all_waits_for_jobs_whose_vnis_are_lost),
          TEST(clean__says_when_something_stays), TEST(clean__leaves_a_job_that_is_just_beginning))
