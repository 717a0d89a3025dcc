/* SPDX-License-Identifier: Apache-2.0 */
/* Leftovers go, live jobs' services and the system's stay (F11). */

#include "tests/system/node/stand.h"

#include <stdio.h>
#include <string.h>

/* Two jobs with services here: f17 is over at the broker, f18 is active. */
static void make_two(struct stand *stand)
{
    pretender_set_job(stand->broker, "f17", stand_job("f17", 4711, "1024", 8));
    pretender_set_job(stand->broker, "f18", stand_job("f18", 4712, "1025", 8));
    assert_int_equal(stand_run(stand, "prolog --job f17"), 0);
    assert_int_equal(stand_run(stand, "prolog --job f18"), 0);
    pretender_set_job(stand->broker, "f17", stand_released("f17", 4711, "1024"));
    assert_int_equal(stand_services(stand, NULL), 8);
}

static void forget(struct stand *stand, const char *number)
{
    char path[128];
    snprintf(path, sizeof path, "%s/spool/%s.json", stand->folder, number);
    assert_int_equal(remove(path), 0);
}

static void clean__takes_the_jobs_that_are_over(void **state)
{
    struct stand *stand = *state;
    make_two(stand);
    assert_int_equal(stand_run(stand, "clean --dry-run"), 0);
    assert_string_equal(stand->out, "cxi0: would destroy service 2 of job elcap/f17\n"
                                    "cxi1: would destroy service 2 of job elcap/f17\n"
                                    "cxi2: would destroy service 2 of job elcap/f17\n"
                                    "cxi3: would destroy service 2 of job elcap/f17\n");
    assert_int_equal(stand_services(stand, NULL), 8);
    assert_int_equal(stand_run(stand, "clean"), 0);
    assert_string_equal(stand->err, "");
    assert_int_equal(stand_services(stand, NULL), 4);
    assert_int_equal(stand_run(stand, "env --job f18"), 0);
    const char *reports = pretender_reports(stand->broker);
    assert_non_null(strstr(reports, "f17/n1 destroyed 4711\n"));
    assert_null(strstr(reports, "f18/n1 destroyed"));
    /* One that the broker has forgotten, and one that was requeued since. */
    pretender_set_job(stand->broker, "f18", NULL);
    assert_int_equal(stand_run(stand, "clean"), 0);
    assert_int_equal(stand_services(stand, NULL), 0);
}

static void clean__takes_an_earlier_life_and_leaves_the_present_one(void **state)
{
    struct stand *stand = *state;
    make_two(stand);
    pretender_set_job(stand->broker, "f17", stand_job("f17", 4713, "1026", 8));
    assert_int_equal(stand_run(stand, "prolog --job f17"), 0);
    assert_int_equal(stand_services(stand, NULL), 12);
    assert_int_equal(stand_run(stand, "clean"), 0);
    assert_int_equal(stand_services(stand, NULL), 8);
    assert_int_equal(stand_run(stand, "env --job f17 --format slurm"), 0);
    stand_expect_out(stand, "SLINGSHOT_VNIS=1026\n");
}

/* A broker with an old ledger does not know of the job's present life: no reason to end it. */
static void clean__believes_no_broker_that_knows_less(void **state)
{
    struct stand *stand = *state;
    make_two(stand);
    pretender_set_job(stand->broker, "f17", stand_released("f17", 4000, "1024"));
    assert_int_equal(stand_run(stand, "clean"), 0);
    assert_int_equal(stand_services(stand, NULL), 8);
}

static void clean__without_the_broker_takes_nothing(void **state)
{
    struct stand *stand = *state;
    make_two(stand);
    forget(stand, "4711");
    pretender_go(stand->broker);
    assert_int_equal(stand_run(stand, "clean"), 4);
    stand_expect_err(stand, "whether job elcap/f18 is active cannot be known, so its services are "
                            "left alone");
    assert_int_equal(stand_run(stand, "clean --all"), 4);
    stand_expect_err(stand, "which jobs are active cannot be known without the broker, so nothing "
                            "is cleaned");
    assert_int_equal(stand_services(stand, NULL), 8);
}

/* What nobody remembers to have made: only with --all, or in the pool. */
static void clean__all_takes_what_is_unknown_but_of_no_active_job(void **state)
{
    struct stand *stand = *state;
    make_two(stand);
    forget(stand, "4711");
    forget(stand, "4712");
    assert_int_equal(stand_run(stand, "clean"), 0);
    assert_int_equal(stand_services(stand, NULL), 8);
    assert_int_equal(stand_run(stand, "clean --all --dry-run"), 0);
    stand_expect_out(stand, "cxi3: would destroy service 2 (uid 5588, VNI 1024)\n");
    assert_null(strstr(stand->out, "1025"));
    assert_null(strstr(stand->out, "system"));
    assert_int_equal(stand_services(stand, NULL), 8);
    assert_int_equal(stand_run(stand, "clean --all"), 0);
    assert_int_equal(stand_services(stand, NULL), 4); /* f18 is active */
    pretender_set_job(stand->broker, "f18", NULL);
    assert_int_equal(stand_run(stand, "clean --all"), 0);
    assert_int_equal(stand_services(stand, NULL), 0);
    /* And the default service is there still. */
    assert_int_equal(stand_run(stand, "list"), 0);
    stand_expect_out(stand, "system 1,10");
}

static void clean__takes_what_is_unknown_in_the_pool(void **state)
{
    struct stand *stand = *state;
    make_two(stand);
    forget(stand, "4711");
    stand_set_config(stand, "pool = 3000-4000\n");
    assert_int_equal(stand_run(stand, "clean"), 0);
    assert_int_equal(stand_services(stand, NULL), 8);
    stand_set_config(stand, "pool = 1024-4000\n");
    assert_int_equal(stand_run(stand, "clean"), 0);
    assert_int_equal(stand_services(stand, NULL), 4);
}

/* A node is shown what may run on it, and that is enough. */
static void clean__all_by_the_node_itself(void **state)
{
    struct stand *stand = *state;
    make_two(stand);
    forget(stand, "4711");
    forget(stand, "4712");
    pretender_set_admin(stand->broker, false);
    assert_int_equal(stand_run(stand, "clean --all"), 0);
    assert_string_equal(stand->err, "");
    assert_int_equal(stand_services(stand, NULL), 4); /* f18 is active */
}

/* Whoever is shown some jobs only must not take the others' services for leftovers. */
static void clean__all_needs_to_see_every_job(void **state)
{
    struct stand *stand = *state;
    make_two(stand);
    forget(stand, "4711");
    pretender_set_admin(stand->broker, false);
    pretender_set_hidden(stand->broker, -1);
    assert_int_equal(stand_run(stand, "clean --all"), 1);
    stand_expect_err(stand, "the pretended broker says forbidden");
    stand_expect_err(stand, "which jobs may be active here cannot be known");
    assert_int_equal(stand_services(stand, NULL), 8);
    pretender_set_hidden(stand->broker, 3);
    assert_int_equal(stand_run(stand, "clean --all"), 1);
    stand_expect_err(stand, "of one of 3 active jobs that may run on n1 and are not shown");
    assert_int_equal(stand_services(stand, NULL), 8);
}

/* Its name alone does not show it to the node: whether it is over, the list for the node says. */
static void clean__leaves_a_job_that_named_no_nodes(void **state)
{
    static const char unnamed[] =
        "{\"cluster\":\"elcap\",\"job\":\"f17\",\"number\":4711,\"state\":\"active\",\"uid\":5588,"
        "\"node_count\":2,\"vnis\":[1024],\"traffic_classes\":[\"best_effort\"],"
        "\"hwcoll\":{\"state\":\"off\"}}";
    struct stand *stand = *state;
    pretender_set_admin(stand->broker, false);
    pretender_set_job(stand->broker, "f17", unnamed);
    assert_int_equal(stand_run_with(stand, unnamed, "prolog --job f17 --reservation -"), 0);
    assert_int_equal(stand_services(stand, NULL), 4);
    assert_int_equal(stand_run(stand, "clean"), 0);
    assert_int_equal(stand_services(stand, NULL), 4);
    pretender_set_hidden(stand->broker, -1);
    assert_int_equal(stand_run(stand, "clean"), 1);
    stand_expect_err(stand, "whether job elcap/f17 is active cannot be known");
    assert_int_equal(stand_services(stand, NULL), 4);
    /* Nor does it help that nobody here remembers it. */
    forget(stand, "4711");
    pretender_set_hidden(stand->broker, 0);
    assert_int_equal(stand_run(stand, "clean --all"), 0);
    assert_int_equal(stand_services(stand, NULL), 4);
    pretender_set_job(stand->broker, "f17", NULL);
    assert_int_equal(stand_run(stand, "clean --all"), 0);
    assert_int_equal(stand_services(stand, NULL), 0);
}

/* One refusal is one line, however many jobs it is about. */
static void clean__says_a_refusal_once(void **state)
{
    static const char *const jobs[] = {
        "{\"cluster\":\"elcap\",\"job\":\"f17\",\"number\":4711,\"state\":\"active\",\"uid\":5588,"
        "\"node_count\":2,\"vnis\":[1024],\"hwcoll\":{\"state\":\"off\"}}",
        "{\"cluster\":\"elcap\",\"job\":\"f18\",\"number\":4712,\"state\":\"active\",\"uid\":5588,"
        "\"node_count\":2,\"vnis\":[1025],\"hwcoll\":{\"state\":\"off\"}}"};
    struct stand *stand = *state;
    pretender_set_job(stand->broker, "f17", jobs[0]);
    pretender_set_job(stand->broker, "f18", jobs[1]);
    assert_int_equal(stand_run(stand, "prolog --job f17"), 0);
    assert_int_equal(stand_run(stand, "prolog --job f18"), 0);
    pretender_set_admin(stand->broker, false);
    pretender_set_hidden(stand->broker, -1);
    assert_int_equal(stand_run(stand, "clean"), 1);
    assert_string_equal(stand->err,
                        "mcast-node: the pretended broker says forbidden\n"
                        "mcast-node: whether job elcap/f17 is active cannot be known, so its "
                        "services are left alone\n"
                        "mcast-node: whether job elcap/f18 is active cannot be known, so its "
                        "services are left alone\n");
    assert_int_equal(stand_services(stand, NULL), 8);
}

/* A broker that lost its ledger has found a job at the fabric manager, and not which VNIs it has.
 */
static void clean__all_waits_for_jobs_whose_vnis_are_lost(void **state)
{
    static const char adopted[] =
        "{\"cluster\":\"elcap\",\"job\":\"f18\",\"number\":3,\"state\":\"active\",\"vnis\":[],"
        "\"traffic_classes\":[],\"hwcoll\":{\"state\":\"reserved\"}}";
    struct stand *stand = *state;
    make_two(stand);
    forget(stand, "4711");
    forget(stand, "4712");
    pretender_set_job(stand->broker, "f18", adopted);
    assert_int_equal(stand_run(stand, "clean --all"), 1);
    stand_expect_err(stand, "they could be job elcap/f18's, whose VNIs the broker has lost");
    assert_int_equal(stand_services(stand, NULL), 8);
    pretender_set_job(stand->broker, "f18", NULL);
    assert_int_equal(stand_run(stand, "clean --all"), 0);
    assert_int_equal(stand_services(stand, NULL), 0);
}

static void clean__says_when_something_stays(void **state)
{
    struct stand *stand = *state;
    make_two(stand);
    stand_set_cxi(stand,
                  "nics = 4\n[fault stuck]\ncall = destroy_svc\nnic = cxi1\nerrno = EBUSY\n");
    assert_int_equal(stand_run(stand, "clean --retry-busy 20ms"), 5);
    assert_int_equal(stand_services(stand, NULL), 5);
    forget(stand, "4711");
    assert_int_equal(stand_run(stand, "clean --all"), 5);
    stand_expect_err(stand, "cxi1: service 2 cannot be destroyed: a process uses it");
    assert_int_equal(stand_services(stand, NULL), 5);
}

/* A prolog at work has noted what it will make, and clean asks the broker about it. */
static void clean__leaves_a_job_that_is_just_beginning(void **state)
{
    struct stand *stand = *state;
    pretender_set_job(stand->broker, "f17", stand_job("f17", 4711, "1024", 8));
    assert_int_equal(stand_run(stand, "prolog --job f17"), 0);
    assert_true(stand_edit_spool(stand, "4711", "\"made\"", "\"intended\""));
    assert_int_equal(stand_run(stand, "clean --all"), 0);
    assert_int_equal(stand_services(stand, NULL), 4);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, stand_create, stand_destroy)
    const struct CMUnitTest tests[] = {
        TEST(clean__takes_the_jobs_that_are_over),
        TEST(clean__takes_an_earlier_life_and_leaves_the_present_one),
        TEST(clean__believes_no_broker_that_knows_less),
        TEST(clean__without_the_broker_takes_nothing),
        TEST(clean__all_takes_what_is_unknown_but_of_no_active_job),
        TEST(clean__takes_what_is_unknown_in_the_pool),
        TEST(clean__all_by_the_node_itself),
        TEST(clean__all_needs_to_see_every_job),
        TEST(clean__leaves_a_job_that_named_no_nodes),
        TEST(clean__says_a_refusal_once),
        TEST(clean__all_waits_for_jobs_whose_vnis_are_lost),
        TEST(clean__says_when_something_stays),
        TEST(clean__leaves_a_job_that_is_just_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
