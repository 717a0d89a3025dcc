/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/metric.h"
#include "tests/bench/parts.h"
#include "tests/bench/request.h"
#include "tests/bench/stall.h"
#include "tests/bench/turn.h"
#include "tests/bench/wholejobs.h"

#include <stdio.h>

/* Calls in flight, and so connections, at most: the goal of G8. */
#define FM_PARALLEL 16
#define TEXT_OF_(value) #value
#define TEXT_OF(value) TEXT_OF_(value)

enum { SHARE = 5 }; /* of the jobs comes in a turn, and of that one request at a time */

static const struct report_goal g8 = {.id = "G8",
                                      .what = "connections to the fabric manager (count)",
                                      .sense = REPORT_AT_MOST,
                                      .limit = FM_PARALLEL,
                                      .is_count = true};

static int measure(const struct bench *bench, struct testbed *testbed)
{
    const struct wholejobs jobs = {.testbed = testbed, .count = bench->jobs, .connections = 32};
    double requests[2], connections[2], seconds;

    if (testbed_start_fm(testbed) < 0 ||
        wholejobs_fm_totals(testbed, &requests[0], &connections[0]) < 0 ||
        testbed_start_broker(testbed) < 0 || testbed_await_link(testbed) < 0 ||
        wholejobs_run(&jobs, &seconds) < 0 ||
        wholejobs_fm_totals(testbed, &requests[1], &connections[1]) < 0 ||
        absence_note(bench->report, testbed, "loop away, whole jobs") < 0)
        return -1;
    const double count = (double)bench->jobs;
    report_goal(bench->report, &g8, connections[1] - connections[0]);
    report_figure(bench->report, "jobs started and ended, with addresses", "/s", count / seconds);
    report_figure(bench->report, "calls of the fabric manager a job", "",
                  (requests[1] - requests[0]) / count);
    return testbed_stop_broker(testbed);
}

/* ---- one request of an eligible job beside one that is not ---- */

/* What is told of a turn. */
static const struct keys {
    const char *reserves, *releases, *commits, *cpu, *reserve, *release;
} keys[] = {
    {"reserve, not eligible, 64 connections", "release, not eligible, 64 connections",
     "commits a reserve, not eligible", "CPU of a reserve, not eligible",
     "reserve, not eligible, 1 connection", "release, not eligible, 1 connection"},
    {"reserve, eligible, 64 connections", "release, eligible, 64 connections",
     "commits a reserve, eligible", "CPU of a reserve, eligible", "reserve, eligible, 1 connection",
     "release, eligible, 1 connection"},
};

static int reserve_and_release(struct testbed *testbed, bool eligible, unsigned connections,
                               size_t count, struct turn turns[2], double *commits)
{
    struct load load = {.socket = testbed_socket(testbed),
                        .connections = connections,
                        .count = count,
                        .make = eligible ? request_eligible : request_reserve,
                        .expected = 201};
    const double before = metric_value(testbed, "mcastd_commits_total");

    if (before < 0 || turn_measure(testbed_broker(testbed), &load, &turns[0]) < 0)
        return -1;
    *commits = (metric_value(testbed, "mcastd_commits_total") - before) / (double)count;
    load.make = request_release;
    load.expected = 202;
    return turn_measure(testbed_broker(testbed), &load, &turns[1]) < 0
               ? -1
               : wholejobs_await_end(testbed);
}

static int take_turn(const struct bench *bench, struct testbed *testbed, bool eligible)
{
    const size_t count = bench->jobs / SHARE;
    const struct keys *key = &keys[eligible];
    struct turn many[2], alone[2];
    double commits, commits_alone;

    if (reserve_and_release(testbed, eligible, 64, count, many, &commits) < 0 ||
        reserve_and_release(testbed, eligible, 1, count / SHARE, alone, &commits_alone) < 0)
        return -1;
    report_figure(bench->report, key->reserves, "/s", many[0].rate);
    report_figure(bench->report, key->releases, "/s", many[1].rate);
    report_figure(bench->report, key->cpu, "µs", many[0].cpu_us);
    report_figure(bench->report, key->reserve, "µs", alone[0].median_us);
    report_figure(bench->report, key->release, "µs", alone[1].median_us);
    report_figure(bench->report, key->commits, "", commits_alone);
    return 0;
}

static int measure_eligible(const struct bench *bench, struct testbed *testbed)
{
    if (testbed_start_fm(testbed) < 0 || testbed_start_broker(testbed) < 0 ||
        testbed_await_link(testbed) < 0)
        return -1;
    for (size_t i = 0; i < bench->repetitions; i++) {
        printf("eligible reserves and others, repetition %zu of %zu\n", i + 1, bench->repetitions);
        fflush(stdout);
        if (take_turn(bench, testbed, false) < 0 || take_turn(bench, testbed, true) < 0)
            return -1;
    }
    return absence_note(bench->report, testbed, "loop away, eligible reserves") < 0
               ? -1
               : testbed_stop_broker(testbed);
}

static int run(const struct bench *bench, const struct testbed_options *options,
               int (*measure_it)(const struct bench *bench, struct testbed *testbed))
{
    struct testbed *testbed = testbed_create(options);
    const int result = testbed ? measure_it(bench, testbed) : -1;

    testbed_destroy(testbed);
    return result;
}

int part_jobs(const struct bench *bench)
{
    static const char *const mock_args[] = {"--addresses", "8192", "--overcommit", NULL};
    const struct testbed_options options = {.mcastd = bench->mcastd,
                                            .mock_fm = bench->fm,
                                            .fm = "parallel = " TEXT_OF(FM_PARALLEL) "\n",
                                            .hwcoll = request_hwcoll};
    const struct testbed_options many = {.mcastd = bench->mcastd,
                                         .mock_fm = bench->fm,
                                         .mock_args = mock_args,
                                         .fm = "reserve_timeout = 1m\n",
                                         .vni = "hold = 0s\n",
                                         .hwcoll = request_hwcoll_for_many};

    printf("G8, %zu jobs from start to end\n", bench->jobs);
    fflush(stdout);
    return run(bench, &options, measure) < 0 ? -1 : run(bench, &many, measure_eligible);
}
