/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a command was at when it was killed, when the disk was full or when another one was at
 * the same, a further one ends it: no service is left, and the broker is told so once that is so
 * (F3, F9, F10, I1). */

#include "tests/system/node/fixture.h"
#include "tests/system/rig/boottime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 200, FIRST_NUMBER = 4711 };

static void preload(const char *name, const char *value)
{
    setenv("LD_PRELOAD", RIG_FAULTS ":" RIG_BOOTED, 1);
    setenv(name, value, 1);
}

static void unload(const char *name)
{
    unsetenv(name);
    setenv("LD_PRELOAD", RIG_BOOTED, 1);
}

static bool last_report_is(struct fixture *fixture, const char *text)
{
    const char *reports = fakebroker_reports(fixture->broker);
    const size_t all = strlen(reports), length = strlen(text);
    return all >= length && strcmp(reports + all - length, text) == 0;
}

/* One start of job f1, which the broker has as active. */
struct life {
    char gone[48];
};

static struct life begin_life(struct fixture *fixture, unsigned int step)
{
    const uint64_t number = FIRST_NUMBER + step;
    struct life life;
    snprintf(life.gone, sizeof life.gone, "f1/n1 destroyed %u\n", FIRST_NUMBER + step);
    fakebroker_set_job(fixture->broker, "f1", fixture_job("f1", number, "1024", 8));
    return life;
}

/* False: the command came to its end before it was killed. */
static bool kill_at(struct fixture *fixture, unsigned int step, const char *command)
{
    char number[16];
    snprintf(number, sizeof number, "%u", step);
    preload("TEST_DIES", number);
    const int rc = fixture_run(fixture, "%s", command);
    unload("TEST_DIES");
    assert_true(rc == -1 || rc == 0);
    return rc == -1;
}

static void end_life(struct fixture *fixture, const struct life *life)
{
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f1");
    EXPECT_RUN(0, "tend");
    assert_true(last_report_is(fixture, life->gone));
    assert_false(fixture_remembers(fixture));
}

static void prolog__killed_at_each_step(void **state)
{
    struct fixture *fixture = *state;
    unsigned int step = 1;
    for (bool killed = true; killed; step++) {
        assert_true(step < STEPS_MAX);
        for (int again = 0; again < 2; again++) {
            const struct life life = begin_life(fixture, 2 * step + (unsigned)again);
            killed = kill_at(fixture, step, "prolog --job f1");
            /* What is there, the node says that it is there, or nothing: never that it is gone. */
            assert_false(last_report_is(fixture, life.gone));
            if (again)
                EXPECT_RUN_LEAVES(0, 4, "prolog --job f1");
            end_life(fixture, &life);
        }
    }
    assert_true(step > 10); /* else nothing was seen */
}

static void epilog__killed_at_each_step(void **state)
{
    struct fixture *fixture = *state;
    unsigned int step = 1;
    for (bool killed = true; killed; step++) {
        assert_true(step < STEPS_MAX);
        const struct life life = begin_life(fixture, step);
        EXPECT_RUN_LEAVES(0, 4, "prolog --job f1");
        killed = kill_at(fixture, step, "epilog --job f1");
        if (last_report_is(fixture, life.gone))
            EXPECT_SERVICES(0);
        end_life(fixture, &life);
    }
    assert_true(step > 10);
}

/* Of what lingered, and is free by now. */
static void tend__killed_at_each_step(void **state)
{
    struct fixture *fixture = *state;
    unsigned int step = 1;
    for (bool killed = true; killed; step++) {
        assert_true(step < STEPS_MAX);
        const struct life life = begin_life(fixture, step);
        EXPECT_RUN_LEAVES(0, 4, "prolog --job f1");
        fixture_set_cxi(fixture, "nics = 4\n[fault stuck]\ncall = destroy_svc\nerrno = EBUSY\n");
        EXPECT_RUN_LEAVES(5, 4, "epilog --job f1 --retry-busy 0s");
        fixture_set_cxi(fixture, "nics = 4\n");
        killed = kill_at(fixture, step, "tend");
        if (last_report_is(fixture, life.gone))
            EXPECT_SERVICES(0);
        EXPECT_RUN_LEAVES(0, 0, "tend");
        assert_true(last_report_is(fixture, life.gone));
        assert_false(fixture_remembers(fixture));
    }
    assert_true(step > 10);
}

/* The node is at fault, and says where; nothing is made that is not remembered, and nothing is
 * told as gone for which it could not be remembered that it has ended. */
static void disk__that_is_full(void **state)
{
    struct fixture *fixture = *state;
    const struct life life = begin_life(fixture, 1);
    EXPECT_RUN(0, "tend"); /* the node has its state folder */
    preload("TEST_FULL", "yes");
    EXPECT_RUN_LEAVES(1, 0, "prolog --job f1");
    fixture_expect_err(fixture, "a file cannot be written in it: No space left on device "
                                "(node.conf: spool)");
    assert_string_equal(fakebroker_reports(fixture->broker), "");
    unload("TEST_FULL");
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f1");
    preload("TEST_FULL", "yes");
    EXPECT_RUN_LEAVES(1, 0, "epilog --job f1");
    assert_false(last_report_is(fixture, life.gone));
    unload("TEST_FULL");
    end_life(fixture, &life);
}

static void hooks__of_one_job_at_once(void **state)
{
    struct fixture *fixture = *state;
    const struct life life = begin_life(fixture, 1);
    for (int round = 0; round < 3; round++) {
        struct process *one = fixture_start(fixture, "prolog --job f1");
        struct process *two = fixture_start(fixture, "prolog --job f1");
        assert_int_equal(fixture_join(one), 0);
        assert_int_equal(fixture_join(two), 0);
        EXPECT_SERVICES(4);
        one = fixture_start(fixture, "epilog --job f1");
        two = fixture_start(fixture, "epilog --job f1");
        assert_int_equal(fixture_join(one), 0);
        assert_int_equal(fixture_join(two), 0);
        EXPECT_SERVICES(0);
        assert_true(last_report_is(fixture, life.gone));
    }
}

static int create(void **state)
{
    boottime_set(boottime_usual());
    return fixture_create(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, create, fixture_destroy)

UNIT_MAIN(TEST(prolog__killed_at_each_step), TEST(epilog__killed_at_each_step),
          TEST(tend__killed_at_each_step), TEST(disk__that_is_full),
          TEST(hooks__of_one_job_at_once))
