/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/stall.h"
#include "tests/bench/metric.h"
#include "tests/bench/parts.h"
#include "tests/bench/request.h"
#include "tests/bench/subscribers.h"
#include "tests/bench/turn.h"
#include "tests/bench/wholejobs.h"
#include "tests/system/rig/await.h"

#include <math.h>
#include <stdio.h>

enum {
    EVENTS = 100, /* that each subscriber is told */
    ANSWER_TIMEOUT_MS = 60000,
    PLACES = 64, /* of a broker that is full */
    SURPLUS = 36,
    LOTS = 9 /* of jobs; the fabric manager is away in the middle third */
};

static const struct report_goal missed = {.id = "C2",
                                          .what = "events that a subscriber missed (count)",
                                          .sense = REPORT_NEVER_ABOVE,
                                          .limit = 0,
                                          .is_count = true};
static const struct report_goal silent = {.id = "C3",
                                          .what = "over the bound, without 503 and Retry-After",
                                          .sense = REPORT_NEVER_ABOVE,
                                          .limit = 0,
                                          .is_count = true};
static const struct report_goal uncounted = {.id = "C4",
                                             .what = "over the bound, but not in the metric",
                                             .sense = REPORT_NEVER_ABOVE,
                                             .limit = 0,
                                             .is_count = true};
static const struct report_goal left = {.id = "C5",
                                        .what = "left after the fabric manager's restart (count)",
                                        .sense = REPORT_NEVER_ABOVE,
                                        .limit = 0,
                                        .is_count = true};

/* ---- many subscribers ---- */

static int reserve(const struct testbed *testbed, size_t first, size_t count, struct turn *out)
{
    const struct load load = {.socket = testbed_socket(testbed),
                              .connections = 16,
                              .first = first,
                              .count = count,
                              .make = request_reserve,
                              .expected = 201};

    return turn_measure(testbed_broker(testbed), &load, out);
}

/* What those cost that wait, and then each is told of as many events. */
static int with_subscribers(const struct bench *bench, struct testbed *testbed,
                            struct subscribers *subscribers, double memory_before)
{
    const double count = (double)bench->subscribers;
    const double open = metric_value(testbed, "mcastd_event_subscribers");
    const double memory = metric_value(testbed, "process_resident_memory_bytes") - memory_before;
    struct turn turn;

    if (open != count) {
        fprintf(stderr, "%.0f of %zu subscribers are there\n", open, bench->subscribers);
        return -1;
    }
    const long long cpu = process_cpu_ns(testbed_broker(testbed));
    const int64_t began = await_now_ns();
    if (reserve(testbed, EVENTS, EVENTS, &turn) < 0)
        return -1;
    const size_t lost = subscribers_read(subscribers, EVENTS, ANSWER_TIMEOUT_MS);
    const double seconds = (double)(await_now_ns() - began) / 1e9;
    report_goal(bench->report, &missed, (double)lost);
    report_figure(bench->report, "memory of a subscriber", "B", memory / count);
    report_figure(bench->report, "events told to all subscribers", "/s", EVENTS * count / seconds);
    report_figure(bench->report, "CPU to tell one subscriber one event", "µs",
                  (double)(process_cpu_ns(testbed_broker(testbed)) - cpu) / 1e3 / EVENTS / count);
    report_figure(bench->report, "reserve, all subscribers being told", "µs", turn.median_us);
    return absence_note(bench->report, testbed, "loop away, subscribers");
}

static int measure_subscribers(const struct bench *bench)
{
    const struct testbed_options options = {.mcastd = bench->mcastd, .hwcoll = request_hwcoll};
    struct testbed *testbed = testbed_create(&options);
    struct subscribers *subscribers = NULL;
    struct turn quiet;
    int result = -1;

    if (!testbed || testbed_start_broker(testbed) < 0 || reserve(testbed, 0, EVENTS, &quiet) < 0)
        goto done;
    const double last = metric_value(testbed, "mcastd_events_total");
    const double memory = metric_value(testbed, "process_resident_memory_bytes");
    report_figure(bench->report, "reserve, nobody being told", "µs", quiet.median_us);
    subscribers = subscribers_open(testbed_socket(testbed), bench->subscribers, (uint64_t)last);
    if (subscribers && with_subscribers(bench, testbed, subscribers, memory) == 0) {
        subscribers_close(subscribers);
        subscribers = NULL;
        result = testbed_stop_broker(testbed);
    }
done:
    subscribers_close(subscribers);
    testbed_destroy(testbed);
    return result;
}

/* ---- more than there is room for ---- */

/* What is over the bound is told so, and counted: nothing is dropped without a word. */
static int turn_away(const struct bench *bench, struct testbed *testbed)
{
    /* The rig's own client has a connection, too. */
    static const char refused[] = "mcastd_http_connections_refused_total{reason=\"limit\"}";
    const double before = metric_value(testbed, refused);
    struct subscribers *all = subscribers_open(testbed_socket(testbed), PLACES - 1, 0);
    size_t told = 0;

    if (!all || before < 0) {
        subscribers_close(all);
        return -1;
    }
    for (int i = 0; i < SURPLUS; i++)
        told += subscribers_turned_away(testbed_socket(testbed));
    const double counted = metric_value(testbed, refused) - before;
    subscribers_close(all);
    report_goal(bench->report, &silent, SURPLUS - (double)told);
    report_goal(bench->report, &uncounted, fabs((double)told - counted));
    return 0;
}

static int measure_bound(const struct bench *bench)
{
    const struct testbed_options options = {.mcastd = bench->mcastd,
                                            .broker = "connections_max = 64\n"};
    struct testbed *testbed = testbed_create(&options);
    const int result =
        testbed && testbed_start_broker(testbed) == 0 && turn_away(bench, testbed) == 0 ? 0 : -1;

    testbed_destroy(testbed);
    return result;
}

/* ---- the fabric manager goes and comes back ---- */

struct outage {
    struct testbed *testbed;
    size_t jobs;
    double pending_most; /* releases that waited for it */
};

static int kill_and_start(void *arg, size_t done)
{
    struct outage *outage = arg;
    const size_t third = outage->jobs / 3;
    const bool away = done >= third && done < 2 * third;
    const double pending = metric_value(outage->testbed, "mcastd_fabric_manager_releases_pending");

    if (pending > outage->pending_most)
        outage->pending_most = pending;
    if (away && testbed_fm_runs(outage->testbed))
        testbed_kill_fm(outage->testbed);
    if (!away && !testbed_fm_runs(outage->testbed))
        return testbed_start_fm(outage->testbed);
    return 0;
}

static int measure_outage(const struct bench *bench)
{
    const struct testbed_options options = {.mcastd = bench->mcastd,
                                            .mock_fm = bench->mock_fm,
                                            .fm = "link_retry = 100ms\n",
                                            .hwcoll = request_hwcoll};
    struct testbed *testbed = testbed_create(&options);
    const size_t lot =
        bench->jobs / LOTS < WHOLEJOBS_AT_ONCE ? bench->jobs / LOTS : WHOLEJOBS_AT_ONCE;
    struct outage outage = {.testbed = testbed, .jobs = LOTS * lot};
    const struct wholejobs jobs = {.testbed = testbed,
                                   .count = outage.jobs,
                                   .lot = lot,
                                   .connections = 32,
                                   .meanwhile = kill_and_start,
                                   .arg = &outage};
    double seconds, held;
    int result = -1;

    if (testbed && testbed_start_fm(testbed) == 0 && testbed_start_broker(testbed) == 0 &&
        testbed_await_link(testbed) == 0 && wholejobs_run(&jobs, &seconds) == 0 &&
        testbed_await_link(testbed) == 0 && wholejobs_await_end(testbed) == 0 &&
        (held = wholejobs_fm_holds(testbed)) >= 0 &&
        absence_note(bench->report, testbed, "loop away, fabric manager's restart") == 0) {
        report_goal(bench->report, &left, held);
        report_figure(bench->report, "jobs while the fabric manager goes and comes back", "/s",
                      (double)outage.jobs / seconds);
        report_figure(bench->report, "releases that waited for it, at most", "",
                      outage.pending_most);
        result = testbed_stop_broker(testbed);
    }
    testbed_destroy(testbed);
    return result;
}

int part_storms(const struct bench *bench)
{
    for (size_t i = 0; i < bench->repetitions; i++) {
        printf("C2–C5, storms, repetition %zu of %zu\n", i + 1, bench->repetitions);
        fflush(stdout);
        if (measure_subscribers(bench) < 0 || measure_bound(bench) < 0 || measure_outage(bench) < 0)
            return -1;
    }
    return 0;
}
