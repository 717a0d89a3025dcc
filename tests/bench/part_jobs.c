/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/stall.h"
#include "tests/bench/parts.h"
#include "tests/bench/request.h"
#include "tests/bench/wholejobs.h"

#include <stdio.h>

/* Calls in flight, and so connections, at most: the goal of G8. */
#define FM_PARALLEL 16
#define TEXT_OF_(value) #value
#define TEXT_OF(value) TEXT_OF_(value)

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

int part_jobs(const struct bench *bench)
{
    const struct testbed_options options = {.mcastd = bench->mcastd,
                                            .mock_fm = bench->mock_fm,
                                            .fm = "parallel = " TEXT_OF(FM_PARALLEL) "\n",
                                            .hwcoll = request_hwcoll};

    printf("G8, %zu jobs from start to end\n", bench->jobs);
    fflush(stdout);
    struct testbed *testbed = testbed_create(&options);
    const int result = testbed ? measure(bench, testbed) : -1;
    testbed_destroy(testbed);
    return result;
}
