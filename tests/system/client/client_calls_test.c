/* SPDX-License-Identifier: Apache-2.0 */
/* The library's calls against a scripted broker: what goes over the wire, and what comes of what
 * comes back. */

#include "client/mcast.h"
#include "fakebroker.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROBLEM "application/problem+json"

#define SIZE(array) (sizeof array / sizeof((array)[0]))
#define AGENT "Host: localhost\r\nUser-Agent: libmcast/" MCAST_VERSION "\r\n"
#define GET(path) "GET " path " HTTP/1.1\r\n" AGENT "Accept: application/json\r\n\r\n"
#define STREAM(path) "GET " path " HTTP/1.1\r\n" AGENT "Accept: text/event-stream\r\n"
#define JOB(name, number)                                                                          \
    "{\"cluster\":\"elcap\",\"job\":\"" name "\",\"number\":" number                               \
    ",\"state\":\"active\",\"uid\":5,\"node_count\":2,\"vnis\":[1024]}"
#define STATUS "{\"version\":\"0.1.0\"}"

static void end(struct mcast *handle, struct fakebroker *fake)
{
    mcast_close(handle);
    fakebroker_destroy(fake);
}

static struct mcast *open_fake(struct fakebroker *fake)
{
    struct mcast *handle = NULL;
    assert_int_equal(mcast_open(&handle, fakebroker_url(fake), NULL), 0);
    return handle;
}

static void expect_status(struct mcast *handle, int code, struct mcast_error *error)
{
    char *json = NULL;
    assert_int_equal(mcast_status(handle, &json, error), code);
    if (code == 0)
        assert_string_equal(json, STATUS);
    free(json);
}

static void reserve__sends_what_was_asked(void **state)
{
    static const struct reply script[] = {{201, NULL, JOB("f1", "7"), THEN_KEEP},
                                          {200, NULL, JOB("f1", "7"), THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct mcast_request request = MCAST_REQUEST_INIT;
    struct mcast_reservation *got = NULL;
    static const char *const classes[] = {"best_effort", "low_latency", NULL};
    request.cluster = "elcap";
    request.job = "f1";
    request.uid = 4294967294;
    request.nodes = "elcap[1-2]";
    request.node_count = 2;
    request.cores_per_node = 96;
    request.vni_count = 0;
    request.hwcoll = "required";
    request.traffic_classes = classes;
    request.interconnect = "slingshot";
    request.tasks_per_node = 8;
    request.cpus_per_task = 12;
    assert_int_equal(mcast_reserve(handle, &request, &got, NULL), 0);
    assert_false(got->repeated);
    assert_int_equal(got->number, 7);
    mcast_reservation_free(got);
    fakebroker_expect(
        fake, 1,
        "PUT /v1/clusters/elcap/jobs/f1 HTTP/1.1\r\n" AGENT
        "Accept: application/json\r\nContent-Type: application/json\r\n"
        "Content-Length: 221\r\n\r\n"
        "{\"uid\":4294967294,\"nodes\":\"elcap[1-2]\",\"node_count\":2,"
        "\"cores_per_node\":96,\"interconnect\":\"slingshot\","
        "\"tasks_per_node\":8,\"cpus_per_task\":12,\"vni_count\":0,\"hwcoll\":\"required\","
        "\"traffic_classes\":[\"best_effort\",\"low_latency\"]}");
    struct mcast_request bare = MCAST_REQUEST_INIT;
    bare.cluster = "elcap";
    bare.job = "f1";
    bare.uid = 5;
    bare.node_count = 2;
    assert_int_equal(mcast_reserve(handle, &bare, &got, NULL), 0);
    assert_true(got->repeated);
    mcast_reservation_free(got);
    fakebroker_expect(fake, 2,
                      "PUT /v1/clusters/elcap/jobs/f1 HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 24\r\n\r\n"
                      "{\"uid\":5,\"node_count\":2}");
    assert_int_equal(fakebroker_connections(fake), 1);
    end(handle, fake);
}

static struct mcast_node_report good_report(void)
{
    static const struct mcast_service services[] = {{"cxi0", 12}, {"cxi1", 7}};
    struct mcast_node_report report = MCAST_NODE_REPORT_INIT;
    report.cluster = "elcap";
    report.job = "f1";
    report.node = "elcap7";
    report.state = "created";
    report.number = 4711;
    report.services = services;
    report.service_count = SIZE(services);
    return report;
}

/* F3: what a node says, and what it is told. */
static void report__says_what_became_of_services(void **state)
{
    static const char problem[] = "application/problem+json";
    static const char given_back[] = "{\"code\":\"vnis-given-back\",\"detail\":\"destroy them\"}";
    static const struct reply script[] = {
        {200, NULL, "{\"state\":\"created\",\"reservation\":\"active\"}", THEN_KEEP},
        {200, NULL, "{\"state\":\"destroyed\",\"reservation\":\"releasing\"}", THEN_KEEP},
        {409, problem, given_back, THEN_KEEP},
        {404, problem, "{\"code\":\"not-found\",\"detail\":\"destroy them\"}", THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct mcast_node_report report = good_report();
    struct mcast_error error;
    bool releasing = true;
    assert_int_equal(mcast_report_node(handle, &report, &releasing, NULL), 0);
    assert_false(releasing);
    fakebroker_expect(fake, 1,
                      "PUT /v1/clusters/elcap/jobs/f1/nodes/elcap7 HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 97\r\n\r\n"
                      "{\"state\":\"created\",\"number\":4711,\"services\":["
                      "{\"device\":\"cxi0\",\"id\":12},{\"device\":\"cxi1\",\"id\":7}]}");
    report.state = "destroyed";
    report.service_count = 0;
    report.order = 2;
    report.vnis = (const uint16_t[]){1024, 65535};
    report.vni_count = 2;
    assert_int_equal(mcast_report_node(handle, &report, &releasing, NULL), 0);
    assert_true(releasing);
    fakebroker_expect(fake, 2,
                      "PUT /v1/clusters/elcap/jobs/f1/nodes/elcap7 HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 65\r\n\r\n"
                      "{\"state\":\"destroyed\",\"number\":4711,\"order\":2,"
                      "\"vnis\":[1024,65535]}");
    assert_int_equal(mcast_report_node(handle, &report, NULL, &error), MCAST_REFUSED);
    assert_string_equal(error.word, "vnis-given-back");
    assert_int_equal(mcast_report_node(handle, &report, NULL, &error), MCAST_NOT_FOUND);
    end(handle, fake);
}

/* F3: one request, however many nodes. */
static void nodes_clean__is_one_request(void **state)
{
    static const struct reply script[] = {
        {200, NULL,
         "{\"cluster\":\"elcap\",\"job\":\"f1\",\"number\":4711,\"state\":\"releasing\","
         "\"node_count\":4000,\"clean\":3998,\"lingering\":\"elcap[3,9]\"}",
         THEN_KEEP},
        {200, NULL, "{\"cluster\":\"elcap\",\"job\":\"f1\",\"number\":4711}", THEN_KEEP},
        {404, "application/problem+json", "{\"code\":\"not-found\",\"detail\":\"over\"}",
         THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct mcast_reservation *seen = NULL;
    struct mcast_error error;
    const struct {
        const char *cluster, *job, *nodes, *state;
        uint64_t number;
    } bad[] = {
        {"el-cap", "f1", "n1", "destroyed", 1}, {"elcap", "a/b", "n1", "destroyed", 1},
        {"elcap", "f1", NULL, "destroyed", 1},  {"elcap", "f1", "n1", NULL, 1},
        {"elcap", "f1", "n1", "destroyed", 0},  {"elcap", "f1", "n1", "lingering", UINT64_MAX},
        {"elcap", "f1", "\xff", "destroyed", 1}};
    for (size_t i = 0; i < SIZE(bad); i++)
        assert_int_equal(mcast_nodes_clean(handle, bad[i].cluster, bad[i].job, bad[i].number,
                                           bad[i].nodes, bad[i].state, NULL, &error),
                         MCAST_USAGE);
    assert_int_equal(
        mcast_nodes_clean(handle, "elcap", "f1", 4711, "elcap[1-4000]", "destroyed", &seen, &error),
        0);
    assert_string_equal(seen->state, "releasing");
    assert_int_equal(seen->number, 4711);
    assert_int_equal(seen->node_count, 4000);
    assert_int_equal(seen->clean, 3998);
    assert_string_equal(seen->lingering, "elcap[3,9]");
    assert_int_equal(seen->lingering_more, 0);
    mcast_reservation_free(seen);
    fakebroker_expect(fake, 1,
                      "PUT /v1/clusters/elcap/jobs/f1/nodes HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 59\r\n\r\n"
                      "{\"number\":4711,\"nodes\":\"elcap[1-4000]\",\"state\":\"destroyed\"}");
    assert_int_equal(mcast_nodes_clean(handle, "elcap", "f1", 1, "n1", "destroyed", &seen, &error),
                     MCAST_UNCLEAR);
    assert_int_equal(mcast_nodes_clean(handle, "elcap", "f1", 1, "n1", "lingering", NULL, &error),
                     MCAST_NOT_FOUND);
    end(handle, fake);
}

static void boot__is_one_request(void **state)
{
    static const struct reply script[] = {
        {200, NULL, "{\"node\":\"elcap7\",\"reservations\":3}", THEN_KEEP},
        {404, "application/problem+json", "{\"code\":\"no-such-path\",\"detail\":\"older\"}",
         THEN_KEEP},
        {200, NULL, "{\"node\":\"elcap7\",\"reservations\":4}", THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct mcast_error error;
    uint64_t count = 0;
    assert_int_equal(mcast_report_boot(handle, "elcap[7]", 1, NULL, &error), MCAST_USAGE);
    assert_int_equal(mcast_report_boot(handle, "elcap7", 0, NULL, &error), MCAST_USAGE);
    assert_int_equal(mcast_report_boot(handle, "elcap7", UINT64_MAX, NULL, &error), MCAST_USAGE);
    assert_int_equal(mcast_report_boot(handle, "elcap7", 1790000000000, &count, NULL), 0);
    assert_int_equal(count, 3);
    fakebroker_expect(fake, 1,
                      "PUT /v1/nodes/elcap7/boot HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 23\r\n\r\n{\"order\":1790000000000}");
    assert_int_equal(mcast_report_boot(handle, "elcap7", 1, NULL, &error), MCAST_NOT_FOUND);
    assert_string_equal(error.word, "no-such-path");
    assert_int_equal(mcast_report_boot_time(handle, "elcap7", 1, 60, 1790000000, &count, NULL), 0);
    assert_int_equal(count, 4);
    fakebroker_expect(fake, 3,
                      "PUT /v1/nodes/elcap7/boot HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 43\r\n\r\n"
                      "{\"order\":1,\"uptime\":60,\"booted\":1790000000}");
    end(handle, fake);
}

static void report__refuses_bad_ones_unsent(void **state)
{
    struct fakebroker *fake = fakebroker_create(NULL, 0);
    struct mcast *handle = open_fake(fake);
    struct mcast_node_report bad[10];
    for (size_t i = 0; i < SIZE(bad); i++)
        bad[i] = good_report();
    bad[0].size = 0;
    bad[1].cluster = "el-cap";
    bad[2].job = NULL;
    bad[3].node = "elcap[7-8]";
    bad[4].state = NULL;
    bad[5].number = 0;
    bad[6].number = UINT64_MAX;
    bad[7].service_count = 17;
    bad[8].order = UINT64_MAX;
    bad[9].vni_count = 5;
    for (size_t i = 0; i < SIZE(bad); i++) {
        struct mcast_error error;
        assert_int_equal(mcast_report_node(handle, &bad[i], NULL, &error), MCAST_USAGE);
        assert_true(error.text[0]);
    }
    fakebroker_expect(fake, 0, NULL);
    end(handle, fake);
}

static void fence__tells_how_many_had_waited(void **state)
{
    static const struct reply script[] = {
        {200, NULL, "{\"node\":\"elcap7\",\"reservations\":3}", THEN_KEEP},
        {200, NULL, "{\"node\":\"elcap7\",\"reservations\":-1}", THEN_KEEP},
        {200, NULL, "{\"node\":\"elcap7\",\"active\":1}", THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    uint64_t count = 0;
    assert_int_equal(mcast_fence(handle, "elcap7", NULL, &count, NULL), MCAST_USAGE);
    assert_int_equal(mcast_fence(handle, NULL, "off", &count, NULL), MCAST_USAGE);
    assert_int_equal(mcast_fence(handle, "elcap7", "off", &count, NULL), 0);
    assert_int_equal(count, 3);
    assert_int_equal(mcast_fence(handle, "elcap7", "off", &count, NULL), MCAST_UNCLEAR);
    assert_int_equal(count, 3);
    char *json = NULL;
    assert_int_equal(mcast_fence_json(handle, "elcap7", "", &json, NULL), MCAST_USAGE);
    assert_int_equal(mcast_fence_json(handle, "elcap7", "off", &json, NULL), 0);
    assert_string_equal(json, "{\"node\":\"elcap7\",\"active\":1}");
    free(json);
    end(handle, fake);
}

/* F22, B4: an administrator's answers to an alarm. */
static void decisions__tell_of_how_many(void **state)
{
    static const struct reply script[] = {
        {200, NULL, "{\"reservations\":12}", THEN_KEEP},
        {200, NULL, "{\"reservations\":2}", THEN_KEEP},
        {404, PROBLEM, "{\"code\":\"no-such-cluster\",\"detail\":\"not configured\"}", THEN_KEEP},
        {200, NULL, "{\"reservations\":\"many\"}", THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    uint64_t count = 0;
    assert_int_equal(mcast_claim(handle, NULL, &count, NULL), MCAST_USAGE);
    assert_int_equal(mcast_claim(handle, "el-cap", &count, NULL), MCAST_USAGE);
    fakebroker_expect(fake, 0, NULL);
    assert_int_equal(mcast_accept_loss(handle, &count, NULL), 0);
    assert_int_equal(count, 12);
    assert_int_equal(mcast_claim(handle, "elcap", &count, NULL), 0);
    assert_int_equal(count, 2);
    assert_int_equal(mcast_claim(handle, "tuo", NULL, NULL), MCAST_NOT_FOUND);
    assert_int_equal(mcast_accept_loss(handle, &count, NULL), MCAST_UNCLEAR);
    assert_int_equal(count, 2);
    end(handle, fake);
}

/* What cannot be right is refused before anything is sent. */
static void reserve__refuses_bad_requests_unsent(void **state)
{
    struct fakebroker *fake = fakebroker_create(NULL, 0);
    struct mcast *handle = open_fake(fake);
    struct mcast_request good = MCAST_REQUEST_INIT;
    good.cluster = "elcap";
    good.job = "f1";
    good.uid = 5;
    good.node_count = 2;
    struct mcast_request bad[9];
    for (size_t i = 0; i < SIZE(bad); i++)
        bad[i] = good;
    bad[0].size = 0;
    bad[1].cluster = "el-cap";
    bad[2].job = "a/../b";
    bad[3].uid = UINT32_MAX;
    bad[4].node_count = 0;
    bad[5].vni_count = 5;
    bad[6].vni_count = -2;
    bad[7].hwcoll = "\xff";
    bad[8].cluster = NULL;
    for (size_t i = 0; i < SIZE(bad); i++) {
        struct mcast_reservation *got = NULL;
        struct mcast_error error;
        assert_int_equal(mcast_reserve(handle, &bad[i], &got, &error), MCAST_USAGE);
        assert_true(error.text[0]);
    }
    fakebroker_expect(fake, 0, NULL);
    end(handle, fake);
}

/* curl repeats a request by itself when a kept connection has died, and the broker may have read
 * its MUNGE credential all the same: then a new one is in order, once. */
static void call__asks_again_with_a_new_credential(void **state)
{
    static const char problem[] = "application/problem+json";
    static const char replayed[] = "{\"code\":\"munge-replayed\",\"detail\":\"seen before\"}";
    static const char expired[] = "{\"code\":\"munge-expired\",\"detail\":\"too old\"}";
    static const char unknown[] = "{\"code\":\"no-identity\",\"detail\":\"who are you?\"}";
    static const struct reply script[] = {
        {401, problem, replayed, THEN_KEEP}, {200, NULL, STATUS, THEN_KEEP},
        {401, problem, expired, THEN_KEEP},  {401, problem, replayed, THEN_KEEP},
        {401, problem, unknown, THEN_KEEP},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct mcast_error error;
    expect_status(handle, 0, &error);
    fakebroker_expect(fake, 2, GET("/v1/status"));
    expect_status(handle, MCAST_REFUSED, &error);
    assert_string_equal(error.text, "seen before");
    fakebroker_expect(fake, 4, GET("/v1/status"));
    expect_status(handle, MCAST_REFUSED, &error);
    assert_string_equal(error.word, "no-identity");
    fakebroker_expect(fake, 5, GET("/v1/status"));
    assert_int_equal(fakebroker_connections(fake), 1);
    end(handle, fake);
}

/* A broker whose clock stands in 2024. */
static void clock__is_told_by_the_last_answer(void **state)
{
    static const struct reply script[] = {
        {200, NULL, STATUS, THEN_KEEP},
        {0, NULL,
         "HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
         "Content-Type: application/json\r\nContent-Length: 19\r\n\r\n" STATUS,
         THEN_KEEP},
        {0, NULL,
         "HTTP/1.1 200 OK\r\nDate: some day\r\n"
         "Content-Type: application/json\r\nContent-Length: 19\r\n\r\n" STATUS,
         THEN_KEEP},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct mcast_error error;
    int64_t ahead = 0, again = 0;
    expect_status(handle, 0, &error);
    assert_int_equal(mcast_clock_ahead(handle, &ahead, &error), MCAST_UNCLEAR);
    expect_status(handle, 0, &error);
    assert_int_equal(mcast_clock_ahead(handle, &ahead, &error), 0);
    int64_t expected = (INT64_C(1704067200) - (int64_t)time(NULL)) * 1000;
    assert_true(ahead > expected - 600000 && ahead < expected + 600000);
    expect_status(handle, 0, &error); /* an odd date is none */
    assert_int_equal(mcast_clock_ahead(handle, &again, &error), 0);
    assert_true(again == ahead);
    end(handle, fake);
}

/* A program that was compiled with a later header may only use what this library knows. */
static void reserve__does_not_drop_fields_of_later_versions(void **state)
{
    static const struct reply script[] = {{201, NULL, JOB("f1", "7"), THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct {
        struct mcast_request request;
        uint64_t later;
    } wide = {.request = MCAST_REQUEST_INIT, .later = 1};
    struct mcast_reservation *got = NULL;
    wide.request.size = sizeof wide;
    wide.request.cluster = "elcap";
    wide.request.job = "f1";
    wide.request.uid = 5;
    wide.request.node_count = 2;
    assert_int_equal(mcast_reserve(handle, &wide.request, &got, NULL), MCAST_USAGE);
    wide.later = 0;
    assert_int_equal(mcast_reserve(handle, &wide.request, &got, NULL), 0);
    mcast_reservation_free(got);
    end(handle, fake);
}

static void release__and_show(void **state)
{
    static const struct reply script[] = {
        {202, NULL, JOB("f7", "7"), THEN_KEEP},
        {409, "application/problem+json",
         "{\"detail\":\"job f7 has reservation 9\",\"code\":\"other-reservation\"}", THEN_KEEP},
        {200, NULL, JOB("f7", "7"), THEN_KEEP},
        {404, "application/problem+json; charset=utf-8",
         "{\"detail\":\"elcap has no job x\",\"code\":\"no-such-job\"}", THEN_KEEP},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct mcast_reservation *got = NULL;
    struct mcast_error error;
    assert_int_equal(mcast_release(handle, "elcap", "f7", NULL, NULL), 0);
    fakebroker_expect(fake, 1,
                      "DELETE /v1/clusters/elcap/jobs/f7 HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\n\r\n");
    assert_int_equal(mcast_release_number(handle, "elcap", "f7", UINT64_MAX, NULL, &error),
                     MCAST_REFUSED);
    assert_string_equal(error.word, "other-reservation");
    fakebroker_expect(
        fake, 2,
        "DELETE /v1/clusters/elcap/jobs/f7?number=18446744073709551615 HTTP/1.1\r\n" AGENT
        "Accept: application/json\r\n\r\n");
    assert_int_equal(mcast_show(handle, "elcap", "f7", &got, NULL), 0);
    fakebroker_expect(fake, 3, GET("/v1/clusters/elcap/jobs/f7"));
    mcast_reservation_free(got);
    /* It would change the path; the broker takes it for no job id, either. */
    assert_int_equal(mcast_show(handle, "elcap", "..", &got, &error), MCAST_USAGE);
    assert_int_equal(mcast_show(handle, "elcap", "x", &got, &error), MCAST_NOT_FOUND);
    assert_string_equal(error.text, "elcap has no job x");
    assert_string_equal(error.word, "no-such-job");
    assert_int_equal(fakebroker_connections(fake), 1);
    end(handle, fake);
}

static int join_variable(const struct mcast_variable *variable, void *data)
{
    char *log = data;
    snprintf(log + strlen(log), 256 - strlen(log), "%s=%s%s;", variable->name, variable->value,
             variable->secret ? "!" : "");
    return strcmp(variable->name, "SLINGSHOT_LAST") == 0 ? 5 : 0;
}

static void env__escapes_the_step_and_keeps_the_order(void **state)
{
    static const struct reply script[] = {
        {200, NULL, "{\"FI_CXI_Z\":\"1\",\"FI_CXI_COLL_MCAST_TOKEN\":\"t\",\"FI_CXI_A\":\"\"}",
         THEN_KEEP},
        {200, NULL, "{\"SLINGSHOT_LAST\":\"1\",\"SLINGSHOT_NEVER\":\"2\"}", THEN_KEEP},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    char log[256] = "";
    assert_int_equal(mcast_env(handle, "elcap", "f1", "/fA/f&B", join_variable, log, NULL), 0);
    assert_string_equal(log, "FI_CXI_Z=1;FI_CXI_COLL_MCAST_TOKEN=t!;FI_CXI_A=;");
    fakebroker_expect(fake, 1, GET("/v1/clusters/elcap/jobs/f1/env?step=%2FfA%2Ff%26B"));
    log[0] = '\0';
    assert_int_equal(mcast_env(handle, "elcap", "f1", NULL, join_variable, log, NULL), 5);
    assert_string_equal(log, "SLINGSHOT_LAST=1;");
    fakebroker_expect(fake, 2, GET("/v1/clusters/elcap/jobs/f1/env"));
    end(handle, fake);
}

static int join_job(const struct mcast_reservation *reservation, void *data)
{
    char *log = data;
    snprintf(log + strlen(log), 256 - strlen(log), "%s;", reservation->job);
    return 0;
}

/* A page may be short, or even empty, although another follows. */
static void list__follows_every_page(void **state)
{
    static const struct reply script[] = {
        {200, NULL, "{\"jobs\":[" JOB("a", "1") "],\"next\":\"/v1/jobs?limit=1000&after=1\"}",
         THEN_KEEP},
        {200, NULL, "{\"jobs\":[],\"next\":\"/v1/jobs?after=9&limit=1000\"}", THEN_KEEP},
        {200, NULL, "{\"jobs\":[" JOB("b", "10") "," JOB("c", "11") "],\"next\":null}", THEN_KEEP},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct mcast_filter filter = MCAST_FILTER_INIT;
    char log[256] = "";
    filter.cluster = "elcap";
    filter.state = "active";
    filter.uid = 0;
    assert_int_equal(mcast_list(handle, &filter, join_job, log, NULL), 0);
    assert_string_equal(log, "a;b;c;");
    fakebroker_expect(fake, 3, GET("/v1/jobs?after=9&limit=1000"));
    end(handle, fake);
}

static void list__sends_the_filter_and_stops_at_the_limit(void **state)
{
    static const struct reply script[] = {
        {200, NULL,
         "{\"jobs\":[" JOB("a", "1") "," JOB("b", "2") "],\"next\":\"/v1/jobs?after=2\"}",
         THEN_KEEP},
        {200, NULL,
         "{\"jobs\":[" JOB("c", "3") "," JOB("d", "4") "],\"next\":\"/v1/jobs?after=4\"}",
         THEN_KEEP},
        {200, NULL, "{\"jobs\":[]}", THEN_KEEP},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct mcast_filter filter = MCAST_FILTER_INIT;
    char log[256] = "";
    filter.cluster = "elcap";
    filter.state = "releasing";
    filter.uid = 12;
    filter.limit = 3;
    assert_int_equal(mcast_list(handle, &filter, join_job, log, NULL), 0);
    assert_string_equal(log, "a;b;c;");
    fakebroker_expect(fake, 2, GET("/v1/jobs?after=2"));
    assert_int_equal(mcast_list(handle, NULL, join_job, log, NULL), 0);
    fakebroker_expect(fake, 3, GET("/v1/jobs?limit=1000"));
    end(handle, fake);
}

static int join_node(const char *node, const char *json, void *data)
{
    strcat(strcat(data, json[0] == '{' ? node : "?"), ";");
    return 0;
}

/* P1: the pages of nodes are followed, and nowhere else. */
static void nodes__follow_every_page(void **state)
{
    static const struct reply script[] = {
        {200, NULL, "{\"nodes\":[{\"node\":\"n1\"}],\"next\":\"/v1/nodes?limit=1000&after=n1\"}",
         THEN_KEEP},
        {200, NULL, "{\"nodes\":[{\"node\":\"n2\"},{\"node\":\"n3\"}],\"next\":null}", THEN_KEEP},
        {200, NULL, "{\"nodes\":[],\"next\":\"/v1/nodes?cluster=tuo&limit=1000\"}", THEN_KEEP},
        {200, NULL, "{\"nodes\":[],\"next\":\"/v1/jobs?after=1\"}", THEN_KEEP},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct mcast_error error;
    char log[64] = "";
    assert_int_equal(mcast_nodes(handle, NULL, join_node, log, NULL), 0);
    assert_string_equal(log, "n1;n2;n3;");
    fakebroker_expect(fake, 2, GET("/v1/nodes?limit=1000&after=n1"));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mcast_nodes(handle, "tuo", join_node, log, &error), MCAST_UNCLEAR);
        assert_words(error.text, "next");
    }
    fakebroker_expect(fake, 4, GET("/v1/nodes?cluster=tuo&limit=1000"));
    assert_int_equal(mcast_node(handle, "a/b", NULL, &error), MCAST_USAGE);
    assert_int_equal(mcast_topology(handle, "elcap", "", NULL, &error), MCAST_USAGE);
    end(handle, fake);
}

/* B1: nothing is read of a request that is refused; a program of before sends what it knows. */
static void vni__is_asked_for(void **state)
{
    static const struct reply script[] = {{201, NULL, "{\"name\":\"daos\",\"vni\":7}", THEN_KEEP}};
    static const uint32_t users[] = {5, 6};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct mcast_vni_request request = MCAST_VNI_REQUEST_INIT, bad[4];
    char *json = NULL;
    request.name = "daos";
    request.users = users;
    request.user_count = 2;
    for (size_t i = 0; i < SIZE(bad); i++)
        bad[i] = request;
    bad[0].size = 0;
    bad[1].name = "Daos";
    bad[2].user_count = SIZE_MAX / sizeof *users;
    bad[3].users = NULL;
    for (size_t i = 0; i < SIZE(bad); i++) {
        struct mcast_error error;
        assert_int_equal(mcast_vni_create(handle, &bad[i], &json, &error), MCAST_USAGE);
        assert_true(error.text[0]);
    }
    request.size = offsetof(struct mcast_vni_request, clusters);
    request.clusters = (const char *const *)(uintptr_t)1; /* behind it */
    assert_int_equal(mcast_vni_create(handle, &request, &json, NULL), 0);
    free(json);
    fakebroker_expect(fake, 1,
                      "PUT /v1/vnis/daos HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 15\r\n\r\n{\"users\":[5,6]}");
    end(handle, fake);
}

static int join_place(const struct mcast_reservation *reservation, void *data)
{
    char *log = data;
    snprintf(log + strlen(log), 256 - strlen(log), "%s:%s;", reservation->job,
             reservation->on_node ? reservation->on_node : "-");
    return 0;
}

/* F11: a list for a node tells what it does not show; one that does not is not believed. */
static void list__of_a_node_counts_what_is_hidden(void **state)
{
    static const struct reply script[] = {
        {200, NULL,
         "{\"jobs\":[{\"cluster\":\"elcap\",\"job\":\"a\",\"number\":1,\"state\":\"active\","
         "\"on_node\":\"possible\"}],\"hidden\":2,\"next\":\"/v1/jobs?node=n1&after=1\"}",
         THEN_KEEP},
        {200, NULL, "{\"jobs\":[" JOB("b", "2") "],\"hidden\":1,\"next\":null}", THEN_KEEP},
        {200, NULL, "{\"jobs\":[" JOB("b", "2") "],\"next\":null}", THEN_KEEP},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct mcast_filter filter = MCAST_FILTER_INIT;
    struct mcast_error error;
    uint64_t hidden = 77;
    char log[256] = "";
    filter.cluster = "elcap";
    filter.node = "n1 ";
    filter.hidden = &hidden;
    assert_int_equal(mcast_list(handle, &filter, join_place, log, &error), MCAST_USAGE);
    filter.node = "n1";
    assert_int_equal(mcast_list(handle, &filter, join_place, log, &error), 0);
    assert_string_equal(log, "a:possible;b:-;");
    assert_int_equal(hidden, 3);
    fakebroker_expect(fake, 2, GET("/v1/jobs?node=n1&after=1"));
    log[0] = '\0';
    filter.silent = true; /* F3 */
    assert_int_equal(mcast_list(handle, &filter, join_place, log, &error), MCAST_UNCLEAR);
    fakebroker_expect(fake, 3, GET("/v1/jobs?limit=1000&cluster=elcap&node=n1&silent=yes"));
    assert_non_null(strstr(error.text, "\"hidden\""));
    assert_string_equal(log, "");
    filter.node = NULL;
    assert_int_equal(mcast_list(handle, &filter, join_place, log, &error), MCAST_USAGE);
    end(handle, fake);
}

/* A program that was compiled when the filter was shorter is understood; what a longer one asks for
 * is not dropped in silence. */
static void list__takes_an_older_filter_and_refuses_a_newer_one(void **state)
{
    static const struct reply script[] = {{200, NULL, "{\"jobs\":[]}", THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct mcast_filter filter = MCAST_FILTER_INIT;
    char log[256] = "";
    filter.size = offsetof(struct mcast_filter, node);
    filter.node = "not there yet";
    assert_int_equal(mcast_list(handle, &filter, join_place, log, NULL), 0);
    struct {
        struct mcast_filter filter;
        const char *more;
    } newer = {MCAST_FILTER_INIT, "more"};
    newer.filter.size = sizeof newer;
    assert_int_equal(mcast_list(handle, &newer.filter, join_place, log, NULL), MCAST_USAGE);
    fakebroker_expect(fake, 1, GET("/v1/jobs?limit=1000"));
    end(handle, fake);
}

/* A broker that points backwards must not keep its client busy for ever. */
static void list__refuses_to_go_in_circles(void **state)
{
    static const char *const links[] = {
        "/v1/jobs?after=0",    "/v1/jobs?after=x",  "/v1/jobs?limit=3", "/v1/jobs",
        "http://elsewhere/v1", "/v1/jobs?after=5x", "/v1/jobs?before=7"};
    for (size_t i = 0; i < SIZE(links); i++) {
        char body[200], log[256] = "";
        struct mcast_error error;
        snprintf(body, sizeof body, "{\"jobs\":[],\"next\":\"%s\"}", links[i]);
        struct reply script[] = {{200, NULL, body, THEN_KEEP}};
        struct fakebroker *fake = fakebroker_create(script, SIZE(script));
        struct mcast *handle = open_fake(fake);
        assert_int_equal(mcast_list(handle, NULL, join_job, log, &error), MCAST_UNCLEAR);
        assert_non_null(strstr(error.text, "\"next\""));
        mcast_close(handle);
        fakebroker_destroy(fake);
    }
}

static void sync__sends_the_whole_list(void **state)
{
    static const struct reply script[] = {
        {200, NULL,
         "{\"active\":2,\"confirmed\":1,\"suspect\":[\"x\"],\"released\":[],\"unknown\":[\"j2\"],"
         "\"suspect_count\":1001,\"released_count\":0,\"unknown_count\":1}",
         THEN_KEEP},
        {200, NULL, "{\"active\":0,\"confirmed\":0}", THEN_KEEP},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    static const char *const jobs[] = {"j1", "j2"};
    static const char *const bad[] = {"j1", "j 2"};
    struct mcast_sync_result *result = NULL;
    assert_int_equal(mcast_sync(handle, "elcap", bad, 2, &result, NULL), MCAST_USAGE);
    fakebroker_expect(fake, 0, NULL);
    assert_int_equal(mcast_sync(handle, "elcap", jobs, 2, &result, NULL), 0);
    fakebroker_expect(fake, 1,
                      "POST /v1/clusters/elcap/sync HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 22\r\n\r\n{\"active\":[\"j1\",\"j2\"]}");
    assert_int_equal(result->active, 2);
    assert_int_equal(result->confirmed, 1);
    assert_int_equal(result->suspect_count, 1001);
    assert_string_equal(result->suspect[0], "x");
    assert_null(result->released[0]);
    assert_string_equal(result->unknown[0], "j2");
    mcast_sync_result_free(result);
    assert_int_equal(mcast_sync(handle, "elcap", NULL, 0, NULL, NULL), 0);
    fakebroker_expect(fake, 2,
                      "POST /v1/clusters/elcap/sync HTTP/1.1\r\n" AGENT
                      "Accept: application/json\r\nContent-Type: application/json\r\n"
                      "Content-Length: 13\r\n\r\n{\"active\":[]}");
    end(handle, fake);
}

/* The broker closes kept connections now and then, and is restarted. */
static void connection__that_broke_is_made_again_once(void **state)
{
    static const struct reply script[] = {
        {200, NULL, STATUS, THEN_KEEP},
        {0, NULL, "", THEN_CLOSE},
        {200, NULL, STATUS, THEN_CLOSE},
        {0, NULL, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"ver", THEN_CLOSE},
        {200, NULL, STATUS, THEN_KEEP},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    for (int i = 0; i < 3; i++)
        expect_status(handle, 0, NULL);
    fakebroker_expect(fake, 5, GET("/v1/status"));
    assert_int_equal(fakebroker_connections(fake), 4);
    end(handle, fake);
}

static void connection__that_breaks_twice_is_reported(void **state)
{
    static const struct reply script[] = {
        {0, NULL, "", THEN_CLOSE},
        {0, NULL, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"ver", THEN_CLOSE},
        {200, NULL, STATUS, THEN_KEEP},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct mcast_error error;
    expect_status(handle, MCAST_UNREACHABLE, &error);
    assert_string_equal(error.word, "broken");
    fakebroker_expect(fake, 2, GET("/v1/status"));
    expect_status(handle, 0, NULL); /* the handle is as good as before */
    end(handle, fake);
}

static void connection__without_a_broker(void **state)
{
    struct mcast *handle = NULL;
    struct mcast_error error;
    assert_int_equal(mcast_open(&handle, "/nonexistent/mcastd.sock", NULL), 0);
    expect_status(handle, MCAST_UNREACHABLE, &error);
    assert_string_equal(error.word, "no-connection");
    assert_non_null(strstr(error.text, "/nonexistent/mcastd.sock: No such file or directory"));
    mcast_close(handle);
}

static void connection__to_silence_has_a_time_limit(void **state)
{
    static const struct reply script[] = {{0, NULL, "", THEN_HANG}, {200, NULL, STATUS, THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct mcast_error error;
    assert_int_equal(mcast_set_timeout(handle, 0, NULL), MCAST_USAGE);
    assert_int_equal(mcast_set_timeout(handle, 2000, NULL), 0);
    expect_status(handle, MCAST_UNREACHABLE, &error);
    assert_string_equal(error.word, "timeout");
    fakebroker_expect(fake, 1, GET("/v1/status")); /* not sent again: it may be under way */
    end(handle, fake);
}

static void connection__to_another_server_is_unclear(void **state)
{
    static const struct reply script[] = {
        {0, NULL, "SSH-2.0-OpenSSH_9.2\r\n", THEN_CLOSE},
        {200, "text/html", "<html>", THEN_KEEP},
        {404, "text/html", "<html>", THEN_KEEP},
        {302, "text/html", "", THEN_KEEP},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    for (size_t i = 0; i < SIZE(script); i++) {
        struct mcast_error error;
        expect_status(handle, MCAST_UNCLEAR, &error);
    }
    end(handle, fake);
}

/* Proxies are for the web: a broker is asked directly whatever the environment says. */
static void connection__uses_no_proxy(void **state)
{
    static const struct reply script[] = {{200, NULL, STATUS, THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    struct mcast *handle = open_fake(fake);
    expect_status(handle, 0, NULL);
    unsetenv("http_proxy");
    end(handle, fake);
}

static void *stop_when_asked(void *data)
{
    void **both = data;
    fakebroker_expect(both[0], 1, GET("/v1/status"));
    mcast_stop(both[1]);
    return NULL;
}

static void stop__ends_the_call_under_way_and_later_ones(void **state)
{
    static const struct reply script[] = {{0, NULL, "", THEN_HANG}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    void *both[] = {fake, handle};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, stop_when_asked, both), 0);
    expect_status(handle, MCAST_STOPPED, NULL);
    pthread_join(thread, NULL);
    expect_status(handle, MCAST_STOPPED, NULL);
    end(handle, fake);
}

static int use_the_handle(const struct mcast_event *event, void *data)
{
    (void)event;
    struct mcast *handle = data;
    char *json = NULL;
    assert_int_equal(mcast_status(handle, &json, NULL), MCAST_USAGE);
    return 1;
}

static void callback__must_not_use_its_handle(void **state)
{
    static const struct reply script[] = {
        {200, "text/event-stream", "data: {\"seq\":1,\"event\":\"x\"}\n\n", THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    assert_int_equal(mcast_events(handle, 0, 0, use_the_handle, handle, NULL), 1);
    end(handle, fake);
}

#define STOPPING "{\"code\":\"stopping\",\"detail\":\"mcastd is stopping\"}"

struct waited {
    int times;
    char word[48];
};

static void on_wait(const struct mcast_error *why, void *data)
{
    struct waited *waited = data;
    waited->times++;
    snprintf(waited->word, sizeof waited->word, "%s", why->word);
}

static struct mcast *open_retrying(struct fakebroker *fake, unsigned ms, struct waited *waited)
{
    struct mcast *handle = open_fake(fake);
    assert_int_equal(mcast_set_patience(handle, ms, on_wait, waited, NULL), 0);
    return handle;
}

/* A broker that is started anew: it stops, is away, is back. */
static void retry__outlives_a_restart(void **state)
{
    static const struct reply script[] = {
        {503, PROBLEM, STOPPING, THEN_CLOSE},
        {0, NULL, "", THEN_CLOSE},
        {0, NULL, "", THEN_CLOSE}, /* asked again at once, once; then it is broken */
        {200, NULL, STATUS, THEN_KEEP},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct waited waited = {0};
    struct mcast *handle = open_retrying(fake, 60000, &waited);
    expect_status(handle, 0, NULL);
    assert_int_equal(waited.times, 1);
    assert_string_equal(waited.word, "stopping");
    fakebroker_expect(fake, 4, GET("/v1/status"));
    end(handle, fake);
}

static int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void retry__leaves_the_broker_alone_as_long_as_it_asks(void **state)
{
    static const char busy[] = "HTTP/1.1 503 Busy\r\nContent-Type: application/problem+json\r\n"
                               "Retry-After: 1\r\nContent-Length: 15\r\n\r\n{\"code\":\"busy\"}";
    static const struct reply script[] = {{0, NULL, busy, THEN_KEEP},
                                          {200, NULL, STATUS, THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct waited waited = {0};
    struct mcast *handle = open_retrying(fake, 60000, &waited);
    int64_t begun = monotonic_ms();
    expect_status(handle, 0, NULL);
    assert_true(monotonic_ms() - begun >= 1000);
    assert_string_equal(waited.word, "busy");
    end(handle, fake);
}

static const char hour[] =
    "HTTP/1.1 503 Full\r\nContent-Type: application/problem+json\r\nRetry-After: 3600\r\n"
    "Content-Length: 46\r\n\r\n{\"code\":\"storage\",\"detail\":\"the disk is full\"}";

static void retry__does_not_outlast_its_time(void **state)
{
    static const struct reply script[] = {{0, NULL, hour, THEN_CLOSE}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct waited waited = {0};
    struct mcast *handle = open_retrying(fake, 30000, &waited);
    struct mcast_error error;
    expect_status(handle, MCAST_REFUSED, &error);
    assert_string_equal(error.word, "storage");
    assert_int_equal(error.retry_after, 3600);
    assert_int_equal(waited.times, 0); /* there is no time to wait for that long */
    end(handle, fake);
    handle = NULL;
    assert_int_equal(mcast_open(&handle, "unix:/nowhere/s", NULL), 0);
    assert_int_equal(mcast_set_patience(handle, 300, on_wait, &waited, NULL), 0);
    expect_status(handle, MCAST_UNREACHABLE, &error);
    assert_string_equal(error.word, "no-connection");
    assert_int_equal(waited.times, 1);
    mcast_close(handle);
}

static void retry__takes_a_no_for_a_no(void **state)
{
    static const struct reply script[] = {
        {503, PROBLEM, "{\"code\":\"vnis-exhausted\",\"detail\":\"none\"}", THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct waited waited = {0};
    struct mcast *handle = open_retrying(fake, 60000, &waited);
    expect_status(handle, MCAST_REFUSED, NULL);
    assert_int_equal(waited.times, 0);
    fakebroker_expect(fake, 1, GET("/v1/status"));
    end(handle, fake);
}

/* Whoever may not use the socket is told that, and not to look whether mcastd runs. */
static bool is_denied(const char *url)
{
    struct mcast *handle = NULL;
    struct mcast_error error = {0};
    char *json = NULL;
    if ((geteuid() == 0 && setuid(65534) < 0) || mcast_open(&handle, url, NULL) < 0 ||
        mcast_set_patience(handle, 3600000, NULL, NULL, NULL) < 0)
        return false;
    int rc = mcast_status(handle, &json, &error);
    mcast_close(handle);
    return rc == MCAST_UNREACHABLE && strcmp(error.word, "denied") == 0 &&
           strstr(error.text, "may not be used by this user");
}

static void retry__is_none_with_a_closed_socket(void **state)
{
    struct fakebroker *fake = fakebroker_create(NULL, 0);
    const char *url = fakebroker_url(fake);
    int status = 0;
    assert_int_equal(chmod(url + strlen("unix:"), 0), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(is_denied(url) ? 0 : 1);
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    fakebroker_destroy(fake);
}

static void stop_in_wait(const struct mcast_error *why, void *data)
{
    (void)why;
    mcast_stop(data); /* as a signal handler would */
}

/* A proxy's hour is heeded for a minute. */
static void retry__does_not_end_at_an_hour(void **state)
{
    static const struct reply script[] = {{0, NULL, hour, THEN_CLOSE}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    assert_int_equal(mcast_set_patience(handle, 90000, stop_in_wait, handle, NULL), 0);
    expect_status(handle, MCAST_STOPPED, NULL); /* by its wait */
    end(handle, fake);
}

static void retry__ends_when_it_is_stopped(void **state)
{
    struct mcast *handle = NULL;
    struct mcast_error error;
    assert_int_equal(mcast_open(&handle, "unix:/nowhere/s", NULL), 0);
    assert_int_equal(mcast_set_patience(handle, 3600000, stop_in_wait, handle, NULL), 0);
    expect_status(handle, MCAST_STOPPED, &error);
    mcast_close(handle);
}

UNIT_MAIN(cmocka_unit_test(clock__is_told_by_the_last_answer),
          cmocka_unit_test(call__asks_again_with_a_new_credential),
          cmocka_unit_test(reserve__sends_what_was_asked),
          cmocka_unit_test(report__says_what_became_of_services),
          cmocka_unit_test(nodes_clean__is_one_request), cmocka_unit_test(boot__is_one_request),
          cmocka_unit_test(report__refuses_bad_ones_unsent),
          cmocka_unit_test(fence__tells_how_many_had_waited),
          cmocka_unit_test(decisions__tell_of_how_many),
          cmocka_unit_test(reserve__refuses_bad_requests_unsent),
          cmocka_unit_test(reserve__does_not_drop_fields_of_later_versions),
          cmocka_unit_test(release__and_show),
          cmocka_unit_test(env__escapes_the_step_and_keeps_the_order),
          cmocka_unit_test(list__follows_every_page),
          cmocka_unit_test(list__sends_the_filter_and_stops_at_the_limit),
          cmocka_unit_test(nodes__follow_every_page), cmocka_unit_test(vni__is_asked_for),
          cmocka_unit_test(list__of_a_node_counts_what_is_hidden),
          cmocka_unit_test(list__takes_an_older_filter_and_refuses_a_newer_one),
          cmocka_unit_test(list__refuses_to_go_in_circles),
          cmocka_unit_test(sync__sends_the_whole_list),
          cmocka_unit_test(connection__that_broke_is_made_again_once),
          cmocka_unit_test(connection__that_breaks_twice_is_reported),
          cmocka_unit_test(connection__without_a_broker),
          cmocka_unit_test(connection__to_silence_has_a_time_limit),
          cmocka_unit_test(connection__to_another_server_is_unclear),
          cmocka_unit_test(connection__uses_no_proxy),
          cmocka_unit_test(stop__ends_the_call_under_way_and_later_ones),
          cmocka_unit_test(callback__must_not_use_its_handle),
          cmocka_unit_test(retry__outlives_a_restart),
          cmocka_unit_test(retry__leaves_the_broker_alone_as_long_as_it_asks),
          cmocka_unit_test(retry__does_not_outlast_its_time),
          cmocka_unit_test(retry__takes_a_no_for_a_no),
          cmocka_unit_test(retry__is_none_with_a_closed_socket),
          cmocka_unit_test(retry__does_not_end_at_an_hour),
          cmocka_unit_test(retry__ends_when_it_is_stopped))
