/* SPDX-License-Identifier: Apache-2.0 */
/* A machine that was started anew: no service of before is there, and the broker learns of it, by
 * one request that comes behind all of before and ahead of all since (F3). */

#include "tests/system/node/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 160 };

static void remove_file(struct fixture *fixture, const char *name)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", fixture->folder, name);
    assert_true(remove(path) == 0 || access(path, F_OK) < 0);
}

/* The "order" of a file of the spool. */
static unsigned long long order_in(struct fixture *fixture, const char *name)
{
    char path[PATH_SIZE], text[4096];
    snprintf(path, sizeof path, "%s/spool/%s", fixture->folder, name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *at = strstr(text, "\"order\": ");
    assert_non_null(at);
    return strtoull(at + strlen("\"order\": "), NULL, 10);
}

static void begin(struct fixture *fixture, const char *job, uint64_t number, const char *vni)
{
    fakebroker_set_job(fixture->broker, job, fixture_job(job, number, vni, 8));
    EXPECT_RUN(0, "prolog --job %s", job);
}

/* What is remembered is of another start of the machine, and the NICs are empty. */
static void start_anew(struct fixture *fixture, const char *number)
{
    char boot[64];
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%63s", boot), 1);
    fclose(file);
    assert_true(fixture_edit_spool(fixture, number, boot, "11111111-2222-3333-4444-555555555555"));
    remove_file(fixture, "spool/boot");
    remove_file(fixture, "cxi/state");
}

static void boot__is_told_in_one_request(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, "f17", 4711, "1024");
    const unsigned long long before = order_in(fixture, "4711.json");
    start_anew(fixture, "4711");
    const unsigned int asked = fakebroker_requests(fixture->broker);
    EXPECT_RUN(0, "boot");
    assert_string_equal(fixture->err, "");
    assert_int_equal(fakebroker_requests(fixture->broker) - asked, 1);
    assert_non_null(strstr(fakebroker_reports(fixture->broker), "\nn1 has booted\n"));
    const unsigned long long boot = fakebroker_boot(fixture->broker, NULL);
    assert_true(boot > before);
    assert_false(fixture_remembers(fixture));
    begin(fixture, "f18", 4712, "1025");
    assert_true(order_in(fixture, "4712.json") > boot);
    /* Again, it is the same. */
    EXPECT_RUN(0, "boot");
    assert_true(fakebroker_boot(fixture->broker, NULL) == boot);
    EXPECT_SERVICES(4);
}

/* What the broker had not heard is told for itself: it may know nothing of this node there. */
static void boot__leaves_no_report_out(void **state)
{
    struct fixture *fixture = *state;
    const char *job = fixture_job("f17", 4711, "1024", 8);
    fakebroker_set_job(fixture->broker, "f17", job);
    fakebroker_go(fixture->broker);
    assert_int_equal(fixture_run_with(fixture, job, "prolog --job f17 --reservation -"), 0);
    start_anew(fixture, "4711");
    fakebroker_come(fixture->broker);
    EXPECT_RUN(0, "boot");
    assert_string_equal(fakebroker_reports(fixture->broker),
                        "n1 has booted\nf17/n1 destroyed 4711\n");
    assert_false(fixture_remembers(fixture));
}

/* The clock was an hour, or a century, ahead before the boot. */
static void boot__has_its_place_whatever_the_clock_says(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, "f17", 4711, "1024");
    assert_true(
        fixture_edit_spool(fixture, "4711", "\"order\": ", "\"order\": 4102444800000, \"was\": "));
    start_anew(fixture, "4711");
    EXPECT_RUN(0, "boot");
    assert_true(fakebroker_boot(fixture->broker, NULL) == 4102444800001ULL);
    begin(fixture, "f18", 4712, "1025");
    assert_true(order_in(fixture, "4712.json") > 4102444800001ULL);
}

/* Before it, a job may have begun: by hand, or where the unit came with an update. */
static void boot__told_late_concerns_nothing_since(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, "f17", 4711, "1024");
    assert_true(fixture_edit_spool(fixture, "4711", "\"order\": ", "\"order\": 5000, \"was\": "));
    remove_file(fixture, "spool/boot");
    EXPECT_RUN(0, "boot");
    assert_true(fakebroker_boot(fixture->broker, NULL) == 4999);
    assert_true(fixture_remembers(fixture));
    EXPECT_SERVICES(4);
}

static void boot__is_told_when_the_broker_is_back(void **state)
{
    struct fixture *fixture = *state;
    fakebroker_go(fixture->broker);
    EXPECT_RUN(4, "boot");
    fixture_expect_err(fixture, "warning: the report that this node has booted is sent later: ");
    fakebroker_come(fixture->broker);
    fakebroker_answer(fixture->broker, 403, "forbidden");
    EXPECT_RUN(1, "boot");
    fakebroker_answer(fixture->broker, 0, NULL);
    EXPECT_RUN(0, "tend");
    assert_string_equal(fakebroker_reports(fixture->broker), "n1 has booted\n");
    const unsigned int asked = fakebroker_requests(fixture->broker);
    EXPECT_RUN(0, "tend");
    assert_int_equal(fakebroker_requests(fixture->broker), asked);
}

static void boot__an_older_broker_is_told_job_by_job(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, "f17", 4711, "1024");
    start_anew(fixture, "4711");
    (void)fakebroker_boot(fixture->broker, "no-such-path");
    EXPECT_RUN(0, "boot");
    fixture_expect_err(fixture, "each job is reported by itself");
    assert_non_null(strstr(fakebroker_reports(fixture->broker), "f17/n1 destroyed 4711\n"));
    assert_false(fixture_remembers(fixture));
    EXPECT_RUN(0, "tend");
    assert_string_equal(fixture->err, "");
}

static void boot__of_a_node_that_does_not_report_tells_nothing(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_config(fixture, "report = no\n");
    EXPECT_RUN(0, "boot");
    assert_int_equal(fakebroker_requests(fixture->broker), 0);
    EXPECT_RUN(2, "boot --job f17");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_create, fixture_destroy)

UNIT_MAIN(TEST(boot__is_told_in_one_request), TEST(boot__leaves_no_report_out),
          TEST(boot__has_its_place_whatever_the_clock_says),
          TEST(boot__told_late_concerns_nothing_since), TEST(boot__is_told_when_the_broker_is_back),
          TEST(boot__an_older_broker_is_told_job_by_job),
          TEST(boot__of_a_node_that_does_not_report_tells_nothing))
