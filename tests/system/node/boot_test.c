/* SPDX-License-Identifier: Apache-2.0 */
/* A machine that was started anew: no service of before is there, and the broker learns of it, by
 * one request that comes behind all of before and ahead of all since (F3). */

#include "tests/system/node/stand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 160 };

static void remove_file(struct stand *stand, const char *name)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", stand->folder, name);
    assert_true(remove(path) == 0 || access(path, F_OK) < 0);
}

/* The "order" of a file of the spool. */
static unsigned long long order_in(struct stand *stand, const char *name)
{
    char path[PATH_SIZE], text[4096];
    snprintf(path, sizeof path, "%s/spool/%s", stand->folder, name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *at = strstr(text, "\"order\": ");
    assert_non_null(at);
    return strtoull(at + strlen("\"order\": "), NULL, 10);
}

static void begin(struct stand *stand, const char *job, uint64_t number, const char *vni)
{
    pretender_set_job(stand->broker, job, stand_job(job, number, vni, 8));
    assert_int_equal(stand_run(stand, "prolog --job %s", job), 0);
}

/* What is remembered is of another start of the machine, and the NICs are empty. */
static void start_anew(struct stand *stand, const char *number)
{
    char boot[64];
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%63s", boot), 1);
    fclose(file);
    assert_true(stand_edit_spool(stand, number, boot, "11111111-2222-3333-4444-555555555555"));
    remove_file(stand, "spool/boot");
    remove_file(stand, "cxi/state");
}

static void boot__is_told_in_one_request(void **state)
{
    struct stand *stand = *state;
    begin(stand, "f17", 4711, "1024");
    const unsigned long long before = order_in(stand, "4711.json");
    start_anew(stand, "4711");
    const unsigned int asked = pretender_requests(stand->broker);
    assert_int_equal(stand_run(stand, "boot"), 0);
    assert_string_equal(stand->err, "");
    assert_int_equal(pretender_requests(stand->broker) - asked, 1);
    assert_non_null(strstr(pretender_reports(stand->broker), "\nn1 has booted\n"));
    const unsigned long long boot = pretender_boot(stand->broker, NULL);
    assert_true(boot > before);
    assert_false(stand_remembers(stand));
    begin(stand, "f18", 4712, "1025");
    assert_true(order_in(stand, "4712.json") > boot);
    /* Again, it is the same. */
    assert_int_equal(stand_run(stand, "boot"), 0);
    assert_true(pretender_boot(stand->broker, NULL) == boot);
    assert_int_equal(stand_services(stand, NULL), 4);
}

/* What the broker had not heard is told for itself: it may know nothing of this node there. */
static void boot__leaves_no_report_out(void **state)
{
    struct stand *stand = *state;
    const char *job = stand_job("f17", 4711, "1024", 8);
    pretender_set_job(stand->broker, "f17", job);
    pretender_go(stand->broker);
    assert_int_equal(stand_run_with(stand, job, "prolog --job f17 --reservation -"), 0);
    start_anew(stand, "4711");
    pretender_come(stand->broker);
    assert_int_equal(stand_run(stand, "boot"), 0);
    assert_string_equal(pretender_reports(stand->broker), "n1 has booted\nf17/n1 destroyed 4711\n");
    assert_false(stand_remembers(stand));
}

/* The clock was an hour, or a century, ahead before the boot. */
static void boot__has_its_place_whatever_the_clock_says(void **state)
{
    struct stand *stand = *state;
    begin(stand, "f17", 4711, "1024");
    assert_true(
        stand_edit_spool(stand, "4711", "\"order\": ", "\"order\": 4102444800000, \"was\": "));
    start_anew(stand, "4711");
    assert_int_equal(stand_run(stand, "boot"), 0);
    assert_true(pretender_boot(stand->broker, NULL) == 4102444800001ULL);
    begin(stand, "f18", 4712, "1025");
    assert_true(order_in(stand, "4712.json") > 4102444800001ULL);
}

/* Before it, a job may have begun: by hand, or where the unit came with an update. */
static void boot__told_late_concerns_nothing_since(void **state)
{
    struct stand *stand = *state;
    begin(stand, "f17", 4711, "1024");
    assert_true(stand_edit_spool(stand, "4711", "\"order\": ", "\"order\": 5000, \"was\": "));
    remove_file(stand, "spool/boot");
    assert_int_equal(stand_run(stand, "boot"), 0);
    assert_true(pretender_boot(stand->broker, NULL) == 4999);
    assert_true(stand_remembers(stand));
    assert_int_equal(stand_services(stand, NULL), 4);
}

static void boot__is_told_when_the_broker_is_back(void **state)
{
    struct stand *stand = *state;
    pretender_go(stand->broker);
    assert_int_equal(stand_run(stand, "boot"), 4);
    stand_expect_err(stand, "warning: the report that this node has booted is sent later: ");
    pretender_come(stand->broker);
    pretender_answer(stand->broker, 403, "forbidden");
    assert_int_equal(stand_run(stand, "boot"), 1);
    pretender_answer(stand->broker, 0, NULL);
    assert_int_equal(stand_run(stand, "tend"), 0);
    assert_string_equal(pretender_reports(stand->broker), "n1 has booted\n");
    const unsigned int asked = pretender_requests(stand->broker);
    assert_int_equal(stand_run(stand, "tend"), 0);
    assert_int_equal(pretender_requests(stand->broker), asked);
}

static void boot__an_older_broker_is_told_job_by_job(void **state)
{
    struct stand *stand = *state;
    begin(stand, "f17", 4711, "1024");
    start_anew(stand, "4711");
    (void)pretender_boot(stand->broker, "no-such-path");
    assert_int_equal(stand_run(stand, "boot"), 0);
    stand_expect_err(stand, "each job is reported by itself");
    assert_non_null(strstr(pretender_reports(stand->broker), "f17/n1 destroyed 4711\n"));
    assert_false(stand_remembers(stand));
    assert_int_equal(stand_run(stand, "tend"), 0);
    assert_string_equal(stand->err, "");
}

static void boot__of_a_node_that_does_not_report_tells_nothing(void **state)
{
    struct stand *stand = *state;
    stand_set_config(stand, "report = no\n");
    assert_int_equal(stand_run(stand, "boot"), 0);
    assert_int_equal(pretender_requests(stand->broker), 0);
    assert_int_equal(stand_run(stand, "boot --job f17"), 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, stand_create, stand_destroy)
    const struct CMUnitTest tests[] = {
        TEST(boot__is_told_in_one_request),
        TEST(boot__leaves_no_report_out),
        TEST(boot__has_its_place_whatever_the_clock_says),
        TEST(boot__told_late_concerns_nothing_since),
        TEST(boot__is_told_when_the_broker_is_back),
        TEST(boot__an_older_broker_is_told_job_by_job),
        TEST(boot__of_a_node_that_does_not_report_tells_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
