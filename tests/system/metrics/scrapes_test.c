/* SPDX-License-Identifier: Apache-2.0 */
/* What /metrics says while the broker idles, is busy, and is in trouble (B8): each scrape passes
 * "promtool check metrics", and the numbers are those that were caused. */
#include "tests/system/metrics/scrape.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/testbed.h"
#include "tests/unit/unit.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define POSTS "{\"method\":\"POST\",\"path\":\"*/collectives/jobs\","
#define OUTCOME(word) "mcastd_cluster_job_events_total{cluster=\"elcap\",outcome=\"" word "\"}"
#define CALLS(kind, outcome)                                                                       \
    "mcastd_fabric_manager_calls_total{kind=\"" kind "\",outcome=\"" outcome "\"}"

static struct testbed *testbed;

static const struct testbed_options options = {
    .mcastd = MCASTD,
    .mock_fm = MOCK_FM,
    .fm = "timeout = 5s\nreserve_timeout = 6s\nlink_retry = 50ms",
    .hwcoll = "min_nodes = 64\naddresses_per_job = 20\ntotal_addresses = 4086",
    .vni = "pool = 1024-2023",
};

static int open_stage(void **state)
{
    testbed = testbed_create(&options);
    return testbed && testbed_start_fm(testbed) == 0 && testbed_start_broker(testbed) == 0 &&
                   testbed_await_link(testbed) == 0
               ? 0
               : -1;
}

static int close_stage(void **state)
{
    testbed_destroy(testbed);
    return 0;
}

/* ---- causing something ---- */

static void ask(struct plainhttp *http, const char *method, const char *path, const char *body,
                int status)
{
    struct plainhttp_reply reply;
    if (plainhttp_call(http, method, path, body, &reply) != status)
        fail_msg("%s %s: %d instead of %d: %s", method, path, reply.status, status, reply.text);
    plainhttp_reply_release(&reply);
}

static void reserve(const char *job, int nodes)
{
    char path[128], body[64];
    (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    (void)snprintf(body, sizeof body, "{\"uid\":5588,\"node_count\":%d}", nodes);
    ask(testbed_http(testbed), "PUT", path, body, 201);
}

static void release(const char *job)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    ask(testbed_http(testbed), "DELETE", path, NULL, 202);
}

/* What the fabric manager does to every further reserve; NULL: nothing any more. */
static void misbehave(const char *fault)
{
    ask(testbed_fm_http(testbed), "DELETE", "/mock/faults", NULL, 200);
    if (fault)
        ask(testbed_fm_http(testbed), "POST", "/mock/faults", fault, 200);
}

struct expected {
    const char *series;
    double value;
};

static bool is_so(void *arg)
{
    const struct expected *expected = arg;
    struct scrape scrape;
    scrape_take(&scrape, testbed_http(testbed));
    bool so = scrape_value(&scrape, expected->series) == expected->value;
    scrape_release(&scrape);
    return so;
}

static void await_value(const char *series, double value)
{
    struct expected expected = {series, value};
    if (!await(is_so, &expected, AWAIT_DEADLINE_MS))
        fail_msg("%s does not become %g", series, value);
}

/* ---- looking ---- */

static void assert_values(const struct expected *expected, size_t count)
{
    struct scrape scrape;
    scrape_take(&scrape, testbed_http(testbed));
    for (size_t i = 0; i < count; i++) {
        double value = scrape_value(&scrape, expected[i].series);
        if (value != expected[i].value)
            fail_msg("%s is %g instead of %g", expected[i].series, value, expected[i].value);
    }
    scrape_release(&scrape);
}

#define ASSERT_VALUES(...)                                                                         \
    do {                                                                                           \
        const struct expected expected_[] = {__VA_ARGS__};                                         \
        assert_values(expected_, sizeof expected_ / sizeof *expected_);                            \
    } while (0)

/* Whatever promtool calls unusual is as good as wrong. */
static void assert_clean(const char *name)
{
    static const char *const words[] = {"check", "metrics", NULL};
    char path[128];
    struct scrape scrape;
    if (!promtool_there())
        skip();
    scrape_take(&scrape, testbed_http(testbed));
    assert_int_equal(folder_write(testbed_folder(testbed), name, 0600, scrape.text + 1), 0);
    scrape_release(&scrape);
    assert_true(tool_passes(PROMTOOL, words,
                            folder_path(path, sizeof path, testbed_folder(testbed), name)));
}

/* ---- the three states ---- */

static void idle__is_all_zero_but_what_is(void **state)
{
    ASSERT_VALUES(
        {"mcastd_build_info{version=\"" MCAST_VERSION "\"}", 1},
        {"mcastd_role{role=\"leader\"}", 1}, {"mcastd_role{role=\"standby\"}", 0},
        {"mcastd_vnis{state=\"free\"}", 1000}, {"mcastd_vnis_pool", 1000},
        {"mcastd_addresses_limit", 4086}, {"mcastd_addresses_per_job", 20},
        {"mcastd_addresses_reserved", 0}, {"mcastd_jobs{state=\"active\"}", 0},
        {"mcastd_fabric_manager_configured", 1}, {"mcastd_fabric_manager_link{state=\"up\"}", 1},
        {"mcastd_fabric_manager_link{state=\"down\"}", 0},
        {"mcastd_fabric_manager_link_losses_total", 0}, {CALLS("list", "ok"), 1},
        {"mcastd_fabric_manager_call_duration_seconds_count{kind=\"list\"}", 1},
        {"mcastd_fabric_manager_logins_total{reason=\"link\"}", 1},
        {"mcastd_fabric_manager_login_failures_total", 0}, {OUTCOME("reserved"), 0},
        {OUTCOME("lost"), 0}, {"mcastd_storage_failing", 0},
        {"mcastd_alarm{alarm=\"mass-loss\",cluster=\"\"}", 0},
        {"mcastd_alarm{alarm=\"name-conflict\",cluster=\"elcap\"}", 0},
        {"mcastd_http_connections{door=\"unix\"}", 1}, {"mcastd_http_connections{door=\"tcp\"}", 0},
        {"mcastd_event_subscribers", 0}, {"mcastd_http_requests_under_way", 1}); /* this one */
    assert_clean("idle");
}

/* Jobs come, are denied, are not served in time, and go. */
static void make_busy(void)
{
    reserve("large", 64);
    reserve("small", 2);
    misbehave(POSTS "\"status\":507}");
    reserve("denied", 100);
    misbehave(POSTS "\"status\":503}");
    reserve("late", 100);
    misbehave(NULL);
    reserve("short", 100);
    release("short");
    ask(testbed_http(testbed), "POST", "/v1/clusters/elcap/sync",
        "{\"active\":[\"large\",\"small\",\"denied\",\"late\"]}", 200);
}

static void busy__counts_what_became_of_jobs(void **state)
{
    make_busy();
    await_value("mcastd_fabric_manager_releases_pending", 0);
    ASSERT_VALUES({OUTCOME("reserved"), 3}, {OUTCOME("denied"), 1}, {OUTCOME("timeout"), 1},
                  {OUTCOME("released"), 1}, {OUTCOME("lost"), 0},
                  {"mcastd_cluster_jobs{cluster=\"elcap\",state=\"active\"}", 4},
                  {"mcastd_cluster_jobs_with_addresses{cluster=\"elcap\"}", 1},
                  {"mcastd_cluster_addresses_reserved{cluster=\"elcap\"}", 20},
                  {"mcastd_cluster_addresses_budget{cluster=\"elcap\"}", 0},
                  {"mcastd_jobs{state=\"active\"}", 4}, {"mcastd_jobs{state=\"releasing\"}", 1},
                  {"mcastd_jobs_with_addresses", 1}, {"mcastd_vnis{state=\"live\"}", 4},
                  {"mcastd_vnis{state=\"held\"}", 1}, {"mcastd_vnis{state=\"free\"}", 995},
                  {CALLS("reserve", "ok"), 2}, {CALLS("reserve", "denied"), 1});
    struct scrape scrape;
    scrape_take(&scrape, testbed_http(testbed));
    double reserves = scrape_value(
        &scrape, "mcastd_fabric_manager_call_duration_seconds_count{kind=\"reserve\"}");
    assert_true(reserves >= 3);
    assert_true(scrape_value(&scrape, "mcastd_commit_duration_seconds_count") ==
                scrape_value(&scrape, "mcastd_commits_total"));
    assert_true(scrape_value(&scrape, "mcastd_commit_records_sum") > 10);
    assert_true(scrape_has(&scrape, "mcastd_cluster_synced_timestamp_seconds{cluster=\"elcap\"}"));
    assert_true(scrape_value(&scrape, "process_resident_memory_bytes") > 1e6);
    assert_true(scrape_value(&scrape, "process_open_fds") > 5);
    assert_true(scrape_value(&scrape, "mcastd_fabric_manager_received_bytes_total") > 100);
    scrape_release(&scrape);
    assert_clean("busy");
}

static pid_t broker_pid(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred peer = {0};
    socklen_t length = sizeof peer;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", testbed_socket(testbed));
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length), 0);
    close(fd);
    return peer.pid;
}

/* No file of the broker's may grow: a full disk, as far as it can see. */
static void fill_disk(bool full)
{
    struct rlimit limit = {.rlim_cur = full ? 0 : RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    assert_int_equal(prlimit(broker_pid(), RLIMIT_FSIZE, &limit, NULL), 0);
}

static void trouble__is_shown_while_it_lasts(void **state)
{
    reserve("before", 64);
    testbed_kill_fm(testbed);
    reserve("without", 64);
    await_value("mcastd_fabric_manager_link{state=\"down\"}", 1);
    ASSERT_VALUES({"mcastd_fabric_manager_link{state=\"up\"}", 0},
                  {"mcastd_fabric_manager_link_losses_total", 1}, {OUTCOME("unavailable"), 1});
    release("before");
    ASSERT_VALUES({"mcastd_fabric_manager_releases_pending", 1},
                  {"mcastd_cluster_releases_pending{cluster=\"elcap\"}", 1});

    fill_disk(true);
    ask(testbed_http(testbed), "PUT", "/v1/clusters/elcap/jobs/unsaved",
        "{\"uid\":5588,\"node_count\":2}", 503);
    await_value("mcastd_storage_failing", 1);
    struct scrape scrape;
    scrape_take(&scrape, testbed_http(testbed));
    assert_true(scrape_value(&scrape, "mcastd_commit_failures_total") >= 1);
    assert_true(scrape_value(&scrape, "mcastd_records_unsaved") >= 1);
    scrape_release(&scrape);
    assert_clean("trouble");

    fill_disk(false);
    await_value("mcastd_storage_failing", 0);
    await_value("mcastd_records_unsaved", 0);
    assert_int_equal(testbed_start_fm(testbed), 0);
    await_value("mcastd_fabric_manager_link{state=\"up\"}", 1);
    await_value("mcastd_fabric_manager_releases_pending", 0);
}

/* A scrape costs what there is to tell, however many jobs there are. */
static void scrape__does_not_grow_with_jobs(void **state)
{
    struct scrape before, after;
    char job[32];
    make_busy();
    await_value("mcastd_fabric_manager_releases_pending", 0);
    scrape_take(&before, testbed_http(testbed));
    for (int i = 0; i < 200; i++) {
        (void)snprintf(job, sizeof job, "many%d", i);
        reserve(job, 2);
    }
    scrape_take(&after, testbed_http(testbed));
    assert_int_equal(after.samples, before.samples);
    assert_true(scrape_value(&after, "mcastd_jobs{state=\"active\"}") == 204);
    scrape_release(&before);
    scrape_release(&after);
}

/* What mcastctl status shows is what is measured. */
static void status__agrees_with_the_metrics(void **state)
{
    struct scrape scrape;
    struct plainhttp_reply reply;
    const char *link, *since, *listed;
    int free_vnis, live, open, losses, requests, refused;
    json_t *login_expires, *certificate;
    reserve("a", 64);
    scrape_take(&scrape, testbed_http(testbed));
    assert_int_equal(plainhttp_call(testbed_http(testbed), "GET", "/v1/status", NULL, &reply), 200);
    json_error_t err;
    int rc = json_unpack_ex(
        reply.json, &err, 0,
        "{s:o, s:b, s:{s:s, s:s, s:s, s:i, s:o}, s:{s:i, s:i}, s:{s:i}, s:{s:i}}",
        "certificate_expires", &certificate, "reload_refused", &refused, "fabric_manager", "link",
        &link, "since", &since, "listed", &listed, "losses", &losses, "login_expires",
        &login_expires, "vnis", "free", &free_vnis, "live", &live, "connections", "open", &open,
        "queues", "requests", &requests);
    if (rc < 0)
        fail_msg("%s in %s", err.text, reply.text);
    assert_string_equal(link, "up");
    assert_true(strcmp(listed, "2020") > 0 && strcmp(since, "2020") > 0);
    assert_true(json_is_null(certificate) && json_is_null(login_expires));
    assert_false(refused);
    assert_int_equal(losses, 0);
    assert_int_equal(requests, 1);
    assert_true(open == scrape_value(&scrape, "mcastd_http_connections{door=\"unix\"}"));
    assert_true(free_vnis == scrape_value(&scrape, "mcastd_vnis{state=\"free\"}"));
    assert_true(live == 1 && live == scrape_value(&scrape, "mcastd_vnis{state=\"live\"}"));
    scrape_release(&scrape);
    plainhttp_reply_release(&reply);
}

#define STAGE_TEST(name) cmocka_unit_test_setup_teardown(name, open_stage, close_stage)

UNIT_MAIN(STAGE_TEST(idle__is_all_zero_but_what_is), STAGE_TEST(busy__counts_what_became_of_jobs),
          STAGE_TEST(trouble__is_shown_while_it_lasts), STAGE_TEST(scrape__does_not_grow_with_jobs),
          STAGE_TEST(status__agrees_with_the_metrics))
