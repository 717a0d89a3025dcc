/* SPDX-License-Identifier: Apache-2.0 */
/* list_command in the whole broker: ends of jobs that nobody reported are found, and a list that is
 * not whole is no reason to release anything (F20, F22). */

#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/testbed.h"
#include "tests/unit/unit.h"

#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 128, SECTION_SIZE = 512 };

/* The resource manager's side: which jobs it has, and how its command behaves. */
static char folder[FOLDER_PATH_SIZE];
static char clusters[SECTION_SIZE];
static struct testbed *testbed;

static const char script[] =
    "#!/bin/sh\n"
    "here=${0%/*}\n"
    "echo $MCAST_CLUSTER >>$here/asked\n"
    "case $(cat $here/mode) in\n"
    "whole) cat $here/jobs ;;\n"
    "half) head -n 1 $here/jobs; echo 'cannot contact the controller' >&2; exit 1 ;;\n"
    "hang) head -n 1 $here/jobs; exec sleep 1000 ;;\n"
    "garbage) head -n 1 $here/jobs; echo JOBID STATE ;;\n"
    "silent) echo 'permission denied' >&2 ;;\n"
    "*) exit 99 ;;\n"
    "esac\n";

static const char *in(const char *name)
{
    static char path[PATH_SIZE];
    return folder_path(path, sizeof path, folder, name);
}

/* At once: a half-written list would be a list. */
static void put(const char *name, const char *text)
{
    char from[PATH_SIZE];
    assert_int_equal(folder_write(folder, "new", 0600, text), 0);
    folder_path(from, sizeof from, folder, "new");
    assert_int_equal(rename(from, in(name)), 0);
}

static int open_folder(void **state)
{
    assert_int_equal(folder_create(folder), 0);
    assert_int_equal(folder_write(folder, "list", 0700, script), 0);
    assert_int_equal(chmod(in("list"), 0700), 0);
    put("mode", "whole\n");
    put("jobs", "");
    return 0;
}

static int close_folder(void **state)
{
    testbed_destroy(testbed);
    testbed = NULL;
    folder_destroy(folder);
    return 0;
}

/* more: further lines of the cluster. */
static void open_stage(const char *more)
{
    (void)snprintf(clusters, sizeof clusters,
                   "[cluster \"tuo\"]\nusers = %u\nlist_command = %s\n%s", (unsigned)geteuid(),
                   in("list"), more);
    const struct testbed_options options = {
        .mcastd = MCASTD,
        .mock_fm = MOCK_FM,
        .broker = "admins = root\nsync_grace = 100ms\nlog_level = debug",
        .fm = "relist = 100ms\nlink_retry = 50ms\nstray_grace = 100ms",
        .hwcoll = "addresses_per_job = 1\ntotal_addresses = 4000",
        .clusters = clusters,
    };
    testbed = testbed_create(&options);
    assert_non_null(testbed);
    assert_int_equal(testbed_start_fm(testbed), 0);
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(testbed_await_link(testbed), 0);
}

/* ---- jobs ---- */

static void reserve(const char *job)
{
    struct plainhttp_reply reply;
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/clusters/tuo/jobs/%s", job);
    int status =
        plainhttp_call(testbed_http(testbed), "PUT", path,
                       "{\"uid\":1000,\"nodes\":\"n[1-2]\",\"hwcoll\":\"required\"}", &reply);
    plainhttp_reply_release(&reply);
    assert_int_equal(status, 201);
}

static bool is_active(const char *job)
{
    struct plainhttp_reply reply;
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/clusters/tuo/jobs/%s", job);
    int status = plainhttp_call(testbed_http(testbed), "GET", path, NULL, &reply);
    const char *word = json_string_value(json_object_get(reply.json, "state"));
    bool active = status == 200 && word && strcmp(word, "active") == 0;
    plainhttp_reply_release(&reply);
    return active;
}

static bool fm_holds(const char *job)
{
    struct plainhttp_reply reply;
    char path[128];
    (void)snprintf(path, sizeof path, "/fabric/collectives/jobs/tuo-%s", job);
    int status = plainhttp_call(testbed_fm_http(testbed), "GET", path, NULL, &reply);
    plainhttp_reply_release(&reply);
    assert_true(status == 200 || status == 404);
    return status == 200;
}

static bool is_gone(void *job)
{
    return !is_active(job) && !fm_holds(job);
}

static void expect_released(char *job)
{
    assert_true(await(is_gone, job, AWAIT_DEADLINE_MS));
}

/* Here and there. */
static void expect_kept(const char *job)
{
    assert_true(is_active(job));
    assert_true(fm_holds(job));
}

/* ---- what it tells of itself ---- */

struct told {
    int64_t failures;
    bool whole, command;
    char error[512];
};

static void ask_status(struct told *told)
{
    struct plainhttp_reply reply;
    size_t i;
    json_t *cluster;
    memset(told, 0, sizeof *told);
    told->failures = -1;
    assert_int_equal(plainhttp_call(testbed_http(testbed), "GET", "/v1/status", NULL, &reply), 200);
    json_array_foreach(json_object_get(reply.json, "clusters"), i, cluster)
    {
        const char *error = json_string_value(json_object_get(cluster, "list_error"));
        if (strcmp(json_string_value(json_object_get(cluster, "name")), "tuo") != 0)
            continue;
        told->failures = json_integer_value(json_object_get(cluster, "list_failures"));
        told->whole = json_is_string(json_object_get(cluster, "listed"));
        told->command = json_is_true(json_object_get(cluster, "list_command"));
        (void)snprintf(told->error, sizeof told->error, "%s", error);
    }
    plainhttp_reply_release(&reply);
    assert_true(told->failures >= 0);
}

static bool failed_often(void *arg)
{
    const int64_t *failures = arg;
    struct told told;
    ask_status(&told);
    return told.failures >= *failures;
}

static bool is_well(void *arg)
{
    struct told told;
    ask_status(&told);
    return told.whole && told.error[0] == '\0';
}

static bool answer_has(const char *path, const char *text)
{
    struct plainhttp_reply reply;
    assert_int_equal(plainhttp_call(testbed_http(testbed), "GET", path, NULL, &reply), 200);
    bool has = strstr(reply.text, text);
    if (!has)
        print_error("%s\n", reply.text);
    plainhttp_reply_release(&reply);
    return has;
}

/* What mcastctl status shows. */
static bool people_read(const char *text)
{
    char command[512], said[8192];
    (void)snprintf(command, sizeof command, "%s --url unix:%s status", MCASTCTL,
                   testbed_socket(testbed));
    FILE *pipe = popen(command, "re");
    assert_non_null(pipe);
    size_t length = fread(said, 1, sizeof said - 1, pipe);
    said[length] = '\0';
    assert_int_equal(pclose(pipe), 0);
    return strstr(said, text);
}

/* How often the command was begun; the file has a line for each. */
static size_t times_asked(void)
{
    struct stat found;
    return stat(in("asked"), &found) == 0 ? (size_t)found.st_size / strlen("tuo\n") : 0;
}

static bool asked_more_than(void *arg)
{
    return times_asked() > *(size_t *)arg;
}

/* ---- tests ---- */

static void lost_epilog__is_found(void **state)
{
    open_stage("list_every = 50ms\n");
    put("jobs", "f1\nf2\nunknown\n");
    reserve("f1");
    reserve("f2");
    assert_true(await(is_well, NULL, AWAIT_DEADLINE_MS));
    put("jobs", "f1\n"); /* f2's epilog never came */
    expect_released("f2");
    expect_kept("f1");
    assert_true(testbed_broker_logged(
        testbed, "tuo-f2: its resource manager did not name it twice in a row -> inactive"));
    assert_false(testbed_broker_logged(testbed, "tuo-f1: its resource manager"));
    put("jobs", ""); /* none at all, and no complaint: that counts */
    expect_released("f1");
}

/* f2 is not named, again and again, but never by a list that is whole. */
static void expect_nothing_released(const char *mode, const char *words)
{
    struct told told;
    ask_status(&told);
    int64_t failures = told.failures + 4;
    put("mode", mode);
    assert_true(await(failed_often, &failures, AWAIT_DEADLINE_MS));
    expect_kept("f1");
    expect_kept("f2");
    ask_status(&told);
    assert_words(told.error, words);
    assert_true(testbed_broker_logged(testbed, words));
    assert_true(answer_has("/metrics", "mcastd_cluster_list_failing{cluster=\"tuo\"} 1"));
    assert_true(
        answer_has("/v1/doctor", "the list_command of cluster \\\"tuo\\\" has failed for "));
    assert_true(people_read("THE ACTIVE JOBS OF tuo CANNOT BE LISTED"));
    put("mode", "whole\n");
    assert_true(await(is_well, NULL, AWAIT_DEADLINE_MS));
    assert_false(people_read("CANNOT BE LISTED"));
    assert_true(people_read("\ntuo "));
    assert_true(testbed_broker_logged(testbed, "list_command of cluster tuo answers again"));
    assert_true(answer_has("/metrics", "mcastd_cluster_list_failing{cluster=\"tuo\"} 0"));
}

static void list_that_is_not_whole__releases_nothing(void **state)
{
    open_stage("list_every = 50ms\n");
    put("jobs", "f1\nf2\n");
    reserve("f1");
    reserve("f2");
    expect_nothing_released("half\n",
                            "it exited with status 1; its stderr: cannot contact the controller");
    expect_nothing_released("garbage\n",
                            "line 2 of its output, \"JOBID STATE\", is no job id: 1 to 128 of");
    expect_nothing_released("silent\n",
                            "it names no job, but wrote to stderr; its stderr: permission denied");
    expect_kept("f1");
    expect_kept("f2");
}

static void list_that_hangs__releases_nothing(void **state)
{
    open_stage("list_every = 50ms\nlist_timeout = 1s\n");
    put("jobs", "f1\nf2\n");
    reserve("f1");
    reserve("f2");
    expect_nothing_released("hang\n", "it did not end within 1s and was killed");
}

/* F22: jobs end while the broker is away, and nobody tells it afterwards. */
static void restart__finds_what_ended_meanwhile(void **state)
{
    open_stage("list_every = 0\n");
    put("jobs", "f1\nf2\n");
    reserve("f1");
    reserve("f2");
    assert_int_equal(testbed_stop_broker(testbed), 0);
    put("jobs", "f1\n");
    assert_int_equal(testbed_start_broker(testbed), 0);
    expect_released("f2");
    expect_kept("f1");
}

static bool link_is_down(void *arg)
{
    return testbed_broker_logged(testbed, "-> link down");
}

/* F20: the same while the fabric manager is away, and the epilog's release is lost with it. */
static void reconnect__finds_what_ended_meanwhile(void **state)
{
    open_stage("list_every = 0\n");
    put("jobs", "f1\nf2\n");
    reserve("f1");
    reserve("f2");
    assert_int_equal(testbed_stop_fm(testbed), 0);
    assert_true(await(link_is_down, NULL, AWAIT_DEADLINE_MS));
    put("jobs", "f1\n");
    size_t asked = times_asked();
    assert_int_equal(testbed_start_fm(testbed), 0);
    assert_true(await(asked_more_than, &asked, AWAIT_DEADLINE_MS));
    expect_released("f2");
    expect_kept("f1");
}

/* What runs then is ended, not waited for. */
static void stop__ends_a_command_that_hangs(void **state)
{
    size_t asked = 0;
    put("mode", "hang\n");
    open_stage("list_every = 0\nlist_timeout = 1h\n");
    assert_true(await(asked_more_than, &asked, AWAIT_DEADLINE_MS));
    assert_int_equal(testbed_stop_broker(testbed), 0);
    put("mode", "whole\n");
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_true(await(is_well, NULL, AWAIT_DEADLINE_MS));
}

#define FOLDER_TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)

UNIT_MAIN(FOLDER_TEST(lost_epilog__is_found), FOLDER_TEST(list_that_is_not_whole__releases_nothing),
          FOLDER_TEST(list_that_hangs__releases_nothing),
          FOLDER_TEST(restart__finds_what_ended_meanwhile),
          FOLDER_TEST(reconnect__finds_what_ended_meanwhile),
          FOLDER_TEST(stop__ends_a_command_that_hangs))
