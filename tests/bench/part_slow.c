/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/stall.h"
#include "tests/bench/metric.h"
#include "tests/bench/parts.h"
#include "tests/bench/request.h"
#include "tests/bench/turn.h"
#include "tests/bench/wholejobs.h"
#include "tests/system/rig/await.h"

#include <stdio.h>

enum { CONNECTIONS = 256, DRAIN_MS = 300000, URGENT_FIRST = 1 << 30, URGENT = 4 };

static const struct report_goal g10 = {.id = "G10",
                                       .what = "a release while each call takes 5 s / while none",
                                       .sense = REPORT_AT_MOST,
                                       .limit = 1.2};
static const struct report_goal left = {.id = "C1",
                                        .what = "left after all were released at once (count)",
                                        .sense = REPORT_NEVER_ABOVE,
                                        .limit = 0,
                                        .is_count = true};

static const struct report_goal overtaken = {.id = "C7",
                                             .what = "reserves behind old releases (count)",
                                             .sense = REPORT_NEVER_ABOVE,
                                             .limit = 0,
                                             .is_count = true};

static int set_fault(const struct testbed *testbed, const char *method, const char *rule)
{
    struct plainhttp_reply reply;
    const int status =
        plainhttp_call(testbed_fm_http(testbed), method, "/mock/faults", rule, &reply);

    plainhttp_reply_release(&reply);
    if (status == 200 || status == 201 || status == 204)
        return 0;
    fprintf(stderr, "%s /mock/faults was answered %d\n", method, status);
    return -1;
}

static int slow_down(const struct testbed *testbed, unsigned delay_ms)
{
    char rule[64];

    snprintf(rule, sizeof rule, "{\"delay_ms\":%u}", delay_ms);
    return set_fault(testbed, "POST", rule);
}

static int reserve_all(const struct bench *bench, struct testbed *testbed, size_t first)
{
    const struct load load = {.socket = testbed_socket(testbed),
                              .connections = 64,
                              .first = first,
                              .count = bench->released,
                              .make = request_eligible,
                              .expected = 201};
    struct load_result result;

    if (load_run(&load, &result) < 0)
        return -1;
    const double have = metric_value(testbed, "mcastd_jobs_with_addresses");
    if (have == (double)bench->released)
        return 0;
    fprintf(stderr, "%.0f of %zu jobs have addresses\n", have, bench->released);
    return -1;
}

/* Jobs that start while thousands of releases wait: a quarter of the calls is kept for them. */
static int start_urgent(const struct bench *bench, const struct testbed *testbed)
{
    struct load load = {.socket = testbed_socket(testbed),
                        .connections = URGENT,
                        .first = URGENT_FIRST,
                        .count = URGENT,
                        .make = request_eligible,
                        .expected = 201};
    struct load_result result;

    if (load_run(&load, &result) < 0)
        return -1;
    const double pending = metric_value(testbed, "mcastd_fabric_manager_releases_pending");
    const double have = metric_value(testbed, "mcastd_jobs_with_addresses");
    report_goal(bench->report, &overtaken, pending > 0 ? URGENT - have : URGENT);
    report_figure(bench->report, "releases still waiting when jobs have started", "", pending);
    load.make = request_release;
    load.expected = 202;
    return load_run(&load, &result);
}

static bool all_gone(void *arg)
{
    return metric_value(arg, "mcastd_fabric_manager_releases_pending") == 0;
}

/* Reserved while the fabric manager is quick, released while it is as it shall be, cleaned up while
 * it is quick again. */
static int release_all(const struct bench *bench, struct testbed *testbed, size_t first,
                       bool is_slow, struct turn *out)
{
    const struct load load = {.socket = testbed_socket(testbed),
                              .connections = CONNECTIONS,
                              .first = first,
                              .count = bench->released,
                              .make = request_release,
                              .expected = 202};

    if (reserve_all(bench, testbed, first) < 0 ||
        (is_slow && slow_down(testbed, bench->slow_ms) < 0) ||
        turn_measure(testbed_broker(testbed), &load, out) < 0)
        return -1;
    const double pending = metric_value(testbed, "mcastd_fabric_manager_releases_pending");
    if (is_slow && (start_urgent(bench, testbed) < 0 || set_fault(testbed, "DELETE", NULL) < 0))
        return -1;
    report_figure(bench->report,
                  is_slow ? "releases that wait then for a slow fabric manager"
                          : "releases that wait then for an instant one",
                  "", pending);
    if (!await(all_gone, testbed, DRAIN_MS)) {
        fprintf(stderr, "releases are still pending\n");
        return -1;
    }
    const double held = wholejobs_fm_holds(testbed);
    if (held < 0)
        return -1;
    report_goal(bench->report, &left, held);
    return 0;
}

static int repeat(const struct bench *bench, struct testbed *testbed, size_t first)
{
    struct report *report = bench->report;
    struct turn instant, slowly;

    if (release_all(bench, testbed, first, false, &instant) < 0 ||
        release_all(bench, testbed, first + bench->released, true, &slowly) < 0)
        return -1;
    report_goal(report, &g10, slowly.median_us / instant.median_us);
    report_figure(report, "release, the fabric manager instant", "µs", instant.median_us);
    report_figure(report, "release, the fabric manager instant, 99 % within", "µs", instant.p99_us);
    report_figure(report, "release, the fabric manager slow", "µs", slowly.median_us);
    report_figure(report, "release, the fabric manager slow, 99 % within", "µs", slowly.p99_us);
    return 0;
}

static int measure(const struct bench *bench, struct testbed *testbed)
{
    if (testbed_start_fm(testbed) < 0 || testbed_start_broker(testbed) < 0 ||
        testbed_await_link(testbed) < 0)
        return -1;
    for (size_t i = 0; i < bench->repetitions; i++) {
        printf("G10, %zu releases at once, repetition %zu of %zu\n", bench->released, i + 1,
               bench->repetitions);
        fflush(stdout);
        if (repeat(bench, testbed, 2 * i * bench->released) < 0 ||
            absence_note(bench->report, testbed, "loop away, all released at once") < 0)
            return -1;
    }
    return testbed_stop_broker(testbed);
}

int part_slow(const struct bench *bench)
{
    static const char *const mock_args[] = {"--addresses", "8192", "--overcommit", NULL};
    /* An address each; a reserve waits for its own as long as it must. VNIs come back at once: of
     * 64,512 all are used in a few repetitions. */
    const struct testbed_options options = {.mcastd = bench->mcastd,
                                            .mock_fm = bench->mock_fm,
                                            .mock_args = mock_args,
                                            .fm = "reserve_timeout = 1m\ntimeout = 30s\n",
                                            .vni = "hold = 0s\n",
                                            .hwcoll = request_hwcoll_for_many};
    struct testbed *testbed = testbed_create(&options);
    const int result = testbed ? measure(bench, testbed) : -1;

    testbed_destroy(testbed);
    return result;
}
