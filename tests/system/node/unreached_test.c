/* SPDX-License-Identifier: Apache-2.0 */
/* A broker that is away costs jobs, and drains no node; a node that alone cannot reach it does not
 * take one job after the other (F10). */

#include "tests/system/node/fixture.h"
#include "tests/system/rig/folder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NO_WAY "--url unix:/nowhere --patience 0s"

static void give_jobs(struct fixture *fixture)
{
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 8));
    fakebroker_set_job(fixture->broker, "f18", fixture_job("f18", 4712, "1025", 8));
}

/* So long ago was the first failure that the node remembers. False: it remembers none. */
static bool age(const struct fixture *fixture, int seconds)
{
    char spool[128], path[160], line[256] = "", boot[64], job[160], older[256];
    int64_t at_ms = 0;
    folder_path(spool, sizeof spool, fixture->folder, "spool");
    FILE *file = fopen(folder_path(path, sizeof path, spool, "unreached"), "re");
    if (!file)
        return false;
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    assert_int_equal(sscanf(line, "%63s %" SCNd64 " %159s", boot, &at_ms, job), 3);
    snprintf(older, sizeof older, "%s %" PRId64 " %s\n", boot, at_ms - seconds * 1000, job);
    assert_int_equal(folder_write(spool, "unreached", 0600, older), 0);
    return true;
}

static void node__that_alone_cannot_reach_it_is_at_fault(void **state)
{
    struct fixture *fixture = *state;
    give_jobs(fixture);
    EXPECT_RUN(4, "prolog --job f17 " NO_WAY);
    /* It may have gone away in the moment when both had been granted. */
    EXPECT_RUN(4, "prolog --job f18 " NO_WAY);
    assert_true(age(fixture, 60));
    EXPECT_RUN(4, "prolog --job f17 " NO_WAY); /* nothing is known that was not */
    EXPECT_RUN(4, "prolog --job f18 --dry-run " NO_WAY);
    EXPECT_RUN(1, "prolog --job f18 " NO_WAY);
    fixture_expect_err(fixture, "mcast-node: only this node cannot reach the broker, which gave "
                                "job f18 what it is to have: cannot reach mcastd at /nowhere: No "
                                "such file or directory; is it running? (systemctl status mcastd) "
                                "(nor for job f17, 6");
    fixture_expect_err(fixture, "mcast-node prolog --job f18 --dry-run here asks the broker");
    EXPECT_SERVICES(0);
    /* As long as that is so, and not when it is mended. */
    EXPECT_RUN(1, "prolog --job f18 " NO_WAY);
    EXPECT_RUN(0, "prolog --job f18 --dry-run");
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f18");
    EXPECT_RUN(4, "prolog --job f17 " NO_WAY);
}

static void answer__of_any_kind_forgets_what_was(void **state)
{
    struct fixture *fixture = *state;
    give_jobs(fixture);
    EXPECT_RUN(4, "prolog --job f17 " NO_WAY);
    assert_true(age(fixture, 60));
    EXPECT_RUN(3, "prolog --job f19");
    assert_false(age(fixture, 60));
    /* So does a job that needs no answer. */
    EXPECT_RUN(4, "prolog --job f17 " NO_WAY);
    assert_int_equal(fixture_run_with(fixture, fixture_job("f18", 4712, "1025", 8),
                                      "prolog --job f18 --reservation - " NO_WAY),
                     0);
    assert_false(age(fixture, 60));
    /* A broker that has no time is reached. */
    EXPECT_RUN(4, "prolog --job f17 " NO_WAY);
    fakebroker_be_busy(fixture->broker, 1);
    EXPECT_RUN(4, "prolog --job f17");
    assert_false(age(fixture, 60));
}

/* Not by an outage of long ago, nor by one before the machine was booted, nor by nonsense. */
static void failure__of_another_time_is_none_of_now(void **state)
{
    struct fixture *fixture = *state;
    char spool[128];
    give_jobs(fixture);
    folder_path(spool, sizeof spool, fixture->folder, "spool");
    EXPECT_RUN(4, "prolog --job f17 " NO_WAY);
    assert_true(age(fixture, 3600));
    EXPECT_RUN(4, "prolog --job f18 " NO_WAY);
    static const char *const others[] = {"another-boot 1 f17\n", "", "f17\n"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_equal(folder_write(spool, "unreached", 0600, others[i]), 0);
        EXPECT_RUN(4, "prolog --job f18 " NO_WAY);
        assert_true(age(fixture, 60));
        EXPECT_RUN(1, "prolog --job f17 " NO_WAY); /* now f18's counts */
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_create, fixture_destroy)

UNIT_MAIN(TEST(node__that_alone_cannot_reach_it_is_at_fault),
          TEST(answer__of_any_kind_forgets_what_was), TEST(failure__of_another_time_is_none_of_now))
