/* SPDX-License-Identifier: Apache-2.0 */
/* Two brokers with one cluster name on one fabric, as when a test copy of a configuration is
 * started beside the real one. Each has jobs of its own, and none of the other's: what it lists
 * looks like leftovers. Neither deletes them, and both say what is wrong (F3, F20, I3, I4). */

#include "tests/system/misbehaviour/scene.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

#define HWCOLL "min_nodes = 64\ntotal_addresses = 4086\nsystem_nodes = 11136"
#define FM "timeout = 5s\nlink_retry = 50ms\nstray_grace = 100ms\nrelist = 200ms"
#define METRIC "mcastd_alarm{alarm=\"name-conflict\",cluster=\"elcap\"} 1"

/* Whole lists that a broker has read. A stray used to be deleted at the second. */
enum { LISTS_ENOUGH = 6 };

/* With the fabric manager, and with the same one. */
static struct testbed *first, *second;
static struct testbed_options copy_options;
static char copy_fm[512];

static const char *fm_url(void)
{
    static char url[64];
    char path[256], port[16] = "";
    (void)snprintf(path, sizeof path, "%s/port", testbed_folder(first));
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(port, sizeof port, file));
    (void)fclose(file);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d", atoi(port));
    return url;
}

static int start(void **state)
{
    const struct testbed_options options = {
        .mcastd = MCASTD, .mock_fm = MOCK_FM, .fm = FM, .hwcoll = HWCOLL};
    if (!(first = testbed_create(&options)) || testbed_start_fm(first) < 0)
        return -1;
    (void)snprintf(copy_fm, sizeof copy_fm, "[fm]\nurl = %s\nauth = basic\nauthdir = %s\n" FM "\n",
                   fm_url(), testbed_folder(first));
    copy_options =
        (struct testbed_options){.mcastd = MCASTD, .hwcoll = HWCOLL, .clusters = copy_fm};
    if (!(second = testbed_create(&copy_options)) || testbed_start_broker(first) < 0 ||
        testbed_start_broker(second) < 0)
        return -1;
    return testbed_await_link(first) == 0 && testbed_await_link(second) == 0 ? 0 : -1;
}

static int stop(void **state)
{
    testbed_destroy(second);
    testbed_destroy(first);
    first = second = NULL;
    return 0;
}

/* ---- asking ---- */

static const char *path_of(const char *job)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    return path;
}

static void assert_hwcoll(const struct plainhttp_reply *reply, const char *job, const char *wanted)
{
    const char *told =
        json_string_value(json_object_get(json_object_get(reply->json, "hwcoll"), "state"));
    if (!told || strcmp(told, wanted) != 0)
        fail_msg("%s should be %s: %d %s", job, wanted, reply->status, reply->text);
}

static void reserve(const struct testbed *testbed, const char *job)
{
    struct plainhttp_reply reply;
    (void)plainhttp_call(testbed_http(testbed), "PUT", path_of(job),
                         "{\"uid\":5588,\"node_count\":128}", &reply);
    assert_hwcoll(&reply, job, "reserved");
    plainhttp_reply_release(&reply);
}

static void assert_reserved(const struct testbed *testbed, const char *job)
{
    struct plainhttp_reply reply;
    (void)plainhttp_call(testbed_http(testbed), "GET", path_of(job), NULL, &reply);
    assert_hwcoll(&reply, job, "reserved");
    plainhttp_reply_release(&reply);
}

/* Names in the order in which they were made, each followed by a blank. */
static void assert_held(const char *wanted)
{
    struct plainhttp_reply reply;
    char held[256] = "";
    size_t i;
    json_t *job;
    (void)plainhttp_call(testbed_fm_http(first), "GET", "/mock/state", NULL, &reply);
    json_array_foreach(json_object_get(reply.json, "jobs"), i, job)
    {
        const size_t used = strlen(held);
        (void)snprintf(held + used, sizeof held - used, "%s ",
                       json_string_value(json_object_get(job, "jobID")));
    }
    plainhttp_reply_release(&reply);
    assert_string_equal(held, wanted);
}

static bool has_text(const struct testbed *testbed, const char *path, const char *text)
{
    struct plainhttp_reply reply;
    const bool found = plainhttp_call(testbed_http(testbed), "GET", path, NULL, &reply) == 200 &&
                       strstr(reply.text, text);
    plainhttp_reply_release(&reply);
    return found;
}

static long lists_read(const struct testbed *testbed)
{
    static const char name[] = "mcastd_fabric_manager_calls_total{kind=\"list\",outcome=\"ok\"} ";
    struct plainhttp_reply reply;
    assert_int_equal(plainhttp_call(testbed_http(testbed), "GET", "/metrics", NULL, &reply), 200);
    const char *line = strstr(reply.text, name);
    assert_non_null(line);
    const long count = strtol(line + strlen(name), NULL, 10);
    plainhttp_reply_release(&reply);
    return count;
}

/* ---- waiting ---- */

struct goal {
    const struct testbed *testbed;
    long lists;
};

static bool has_read(void *arg)
{
    const struct goal *goal = arg;
    return lists_read(goal->testbed) >= goal->lists;
}

static void await_lists(const struct testbed *testbed)
{
    struct goal goal = {testbed, lists_read(testbed) + LISTS_ENOUGH};
    assert_true(await(has_read, &goal, AWAIT_DEADLINE_MS));
}

/* "alarms":[{"kind":"name-conflict","cluster":"elcap","detail":"…","since":…}] */
static bool has_alarm(void *arg)
{
    const struct testbed *testbed = arg;
    struct plainhttp_reply reply;
    bool found = false;
    size_t i;
    json_t *alarm;
    (void)plainhttp_call(testbed_http(testbed), "GET", "/v1/status", NULL, &reply);
    json_array_foreach(json_object_get(reply.json, "alarms"), i, alarm)
    {
        const char *kind = json_string_value(json_object_get(alarm, "kind"));
        const char *cluster = json_string_value(json_object_get(alarm, "cluster"));
        if (!kind || strcmp(kind, "name-conflict") != 0)
            continue;
        found = true;
        assert_non_null(cluster);
        assert_string_equal(cluster, "elcap");
        assert_true(json_string_length(json_object_get(alarm, "detail")) > 0);
        assert_non_null(json_object_get(alarm, "since"));
    }
    plainhttp_reply_release(&reply);
    return found;
}

static bool has_metric(void *arg)
{
    return has_text(arg, "/metrics", METRIC);
}

/* ---- tests ---- */

static void two_brokers__leave_each_others_jobs_alone_and_say_so(void **state)
{
    reserve(first, "f1");
    reserve(second, "s1");
    reserve(first, "f2");
    reserve(second, "s2");
    await_lists(first);
    await_lists(second);
    assert_held("elcap-f1 elcap-s1 elcap-f2 elcap-s2 ");
    struct testbed *const both[] = {first, second};
    for (size_t i = 0; i < 2; i++) {
        if (!await(has_alarm, both[i], AWAIT_DEADLINE_MS))
            fail_msg("broker %zu has no alarm", i + 1);
        assert_true(await(has_metric, both[i], AWAIT_DEADLINE_MS));
        assert_false(has_text(both[i], "/v1/events?after=0&follow=0", "\nevent: lost\n"));
    }
    assert_reserved(first, "f1");
    assert_reserved(first, "f2");
    assert_reserved(second, "s1");
    assert_reserved(second, "s2");
}

static bool is_released(void *name)
{
    struct plainhttp_reply reply;
    (void)plainhttp_call(testbed_fm_http(first), "GET", "/mock/state", NULL, &reply);
    const bool gone = reply.text && !strstr(reply.text, name);
    plainhttp_reply_release(&reply);
    return gone;
}

static void release(const struct testbed *testbed, const char *job)
{
    struct plainhttp_reply reply;
    char name[64];
    (void)snprintf(name, sizeof name, "\"elcap-%s\"", job);
    assert_int_equal(plainhttp_call(testbed_http(testbed), "DELETE", path_of(job), NULL, &reply),
                     202);
    plainhttp_reply_release(&reply);
    assert_true(await(is_released, name, AWAIT_DEADLINE_MS));
}

/* Each goes on to serve its own jobs, of which it knows that they are its own. */
static void two_brokers__release_what_is_their_own(void **state)
{
    reserve(first, "f1");
    reserve(second, "s1");
    await_lists(first);
    release(first, "f1");
    await_lists(second);
    assert_held("elcap-s1 ");
    assert_reserved(second, "s1");
}

/* The same number of a job in both: it is the first one's, who keeps it. */
static void two_brokers__with_one_job_id_do_not_take_it_from_each_other(void **state)
{
    struct plainhttp_reply reply;
    reserve(first, "17");
    (void)plainhttp_call(testbed_http(second), "PUT", path_of("17"),
                         "{\"uid\":5588,\"node_count\":128}", &reply);
    assert_hwcoll(&reply, "17", "denied");
    plainhttp_reply_release(&reply);
    await_lists(second);
    assert_int_equal(plainhttp_call(testbed_http(second), "DELETE", path_of("17"), NULL, &reply),
                     202);
    plainhttp_reply_release(&reply);
    await_lists(second);
    await_lists(first);
    assert_held("elcap-17 ");
    assert_reserved(first, "17");
}

/* By the first one's ledger job 17 is over: what is under its name now has another token. */
static void two_brokers__with_the_id_of_a_job_that_is_over(void **state)
{
    reserve(first, "17");
    release(first, "17");
    await_lists(second); /* which had listed it */
    reserve(second, "17");
    await_lists(first);
    assert_held("elcap-17 ");
    assert_reserved(second, "17");
    assert_true(await(has_alarm, first, AWAIT_DEADLINE_MS));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

UNIT_MAIN(TEST(two_brokers__leave_each_others_jobs_alone_and_say_so),
          TEST(two_brokers__release_what_is_their_own),
          TEST(two_brokers__with_one_job_id_do_not_take_it_from_each_other),
          TEST(two_brokers__with_the_id_of_a_job_that_is_over))
