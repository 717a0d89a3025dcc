/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs whose end a node did not hear of, as all of the resource manager was killed: tend ends what
 * they left, and nothing that may run (F9, I3, B11). */

#include "tests/system/node/fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_SIZE = 512, NOBODY_HERE = 5588, JOBS = 2 };

static void tell(struct fixture *fixture, unsigned int number, unsigned int uid, const char *state)
{
    static char texts[JOBS][TEXT_SIZE];
    char *text = texts[number % JOBS], job[8];
    snprintf(job, sizeof job, "f%u", number);
    snprintf(text, TEXT_SIZE,
             "{\"cluster\":\"elcap\",\"job\":\"%s\",\"number\":%u,\"state\":\"%s\",\"uid\":%u,"
             "\"nodes\":\"n[1-2]\",\"node_count\":2,\"cores_per_node\":8,\"vnis\":[%u],"
             "\"traffic_classes\":[\"best_effort\"]}",
             job, number, state, uid, 1024 + number);
    fakebroker_set_job(fixture->broker, job, text);
}

static void begin(struct fixture *fixture, unsigned int number, unsigned int uid)
{
    fixture_set_config(fixture, "missed_every = 1s\n");
    tell(fixture, number, uid, "active");
    EXPECT_RUN(0, "prolog --job f%u", number);
    EXPECT_RUN(0, "tend"); /* sees it, and asks later */
}

/* The next tend asks of the job, as after a long time. */
static void age(struct fixture *fixture, const char *number)
{
    assert_true(fixture_edit_spool(fixture, number, "\"tried\": ", "\"tried\": 1, \"before\": "));
}

static bool was_reported(struct fixture *fixture, const char *line)
{
    return strstr(fakebroker_reports(fixture->broker), line);
}

static void over__without_an_epilog_is_ended(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, 1, NOBODY_HERE);
    age(fixture, "1");
    EXPECT_RUN_LEAVES(0, 4, "tend"); /* it is active */
    fakebroker_set_job(fixture->broker, "f1", NULL);
    age(fixture, "1");
    EXPECT_RUN_LEAVES(0, 4, "tend"); /* one answer, of a broker that may have lost it (B11) */
    tell(fixture, 1, NOBODY_HERE, "active");
    age(fixture, "1");
    EXPECT_RUN_LEAVES(0, 4, "tend");
    tell(fixture, 1, NOBODY_HERE, "releasing");
    age(fixture, "1");
    EXPECT_RUN_LEAVES(0, 4, "tend");
    age(fixture, "1");
    EXPECT_RUN_LEAVES(0, 0, "tend");
    fixture_expect_err(fixture, "job elcap/f1 is over, and its hooks have not ended its services");
    assert_true(was_reported(fixture, "f1/n1 destroyed 1\n"));
    assert_false(fixture_remembers(fixture));
}

static void over__is_not_believed_once_of_what_may_run(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, 1, (unsigned int)geteuid());
    tell(fixture, 1, (unsigned int)geteuid(), "releasing");
    age(fixture, "1");
    EXPECT_RUN_LEAVES(0, 4, "tend");
    assert_true(was_reported(fixture, "f1/n1 lingering 1 ")); /* so that no time frees its VNI */
    tell(fixture, 1, (unsigned int)geteuid(), "active");      /* the broker was wrong */
    age(fixture, "1");
    EXPECT_RUN_LEAVES(0, 4, "tend");
    tell(fixture, 1, (unsigned int)geteuid(), "releasing");
    age(fixture, "1");
    EXPECT_RUN_LEAVES(0, 4, "tend");
    age(fixture, "1");
    EXPECT_RUN_LEAVES(0, 0, "tend");
    assert_true(was_reported(fixture, "f1/n1 destroyed 1\n"));
}

static void over__is_not_what_the_broker_has_lost(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, 1, (unsigned int)geteuid());
    fakebroker_set_job(fixture->broker, "f1", NULL);
    for (int i = 0; i < 3; i++) {
        age(fixture, "1");
        EXPECT_RUN_LEAVES(0, 4, "tend");
    }
}

/* Killed between its epilog and its housekeeping. */
static void over__is_what_housekeeping_has_not_come_for(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, 1, NOBODY_HERE);
    fixture_set_config(fixture, "missed_every = 1s\nhousekeeping = yes\nhousekeeping_retry = 0s\n");
    fixture_set_cxi(fixture, "nics = 4\n[fault used]\ncall = destroy_svc\nerrno = EBUSY\n");
    EXPECT_RUN(5, "epilog --job f1 --retry-busy 0s");
    fixture_set_cxi(fixture, "nics = 4\n");
    EXPECT_RUN_LEAVES(0, 4, "tend");
    age(fixture, "1");
    EXPECT_RUN_LEAVES(0, 0, "tend");
}

/* A job that is over is no job that may use it. */
static void over__is_no_excuse_for_what_is_stuck(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, 1, NOBODY_HERE);
    begin(fixture, 2, NOBODY_HERE);
    fixture_set_cxi(fixture, "nics = 4\n[fault used]\ncall = destroy_svc\nnic = cxi0\n"
                             "errno = EBUSY\n");
    EXPECT_RUN(7, "housekeeping --job f2 --retry-busy 0s");
    tell(fixture, 1, NOBODY_HERE, "releasing");
    EXPECT_RUN(5, "housekeeping --job f2 --retry-busy 0s");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_create, fixture_destroy)

UNIT_MAIN(TEST(over__without_an_epilog_is_ended), TEST(over__is_not_believed_once_of_what_may_run),
          TEST(over__is_not_what_the_broker_has_lost),
          TEST(over__is_what_housekeeping_has_not_come_for),
          TEST(over__is_no_excuse_for_what_is_stuck))
