/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/reserveturn.h"

#include "tests/bench/stall.h"
#include "tests/bench/metric.h"
#include "tests/bench/request.h"

/* The warm-up's jobs have other ids. */
enum { WARM_UP_FIRST = 1 << 30 };

struct commits {
    double count, seconds;
};

static int commits_until_now(const struct testbed *testbed, struct commits *out)
{
    out->count = metric_value(testbed, "mcastd_commits_total");
    out->seconds = metric_value(testbed, "mcastd_commit_duration_seconds_sum");
    return out->count < 0 || out->seconds < 0 ? -1 : 0;
}

int reserveturn_run(const struct bench *bench, unsigned connections, size_t count,
                    struct reserveturn *out)
{
    const struct testbed_options options = {.mcastd = bench->mcastd, .hwcoll = request_hwcoll};
    struct testbed *testbed = testbed_create(&options);
    struct load load = {.connections = 64,
                        .first = WARM_UP_FIRST,
                        .count = bench->warm_up,
                        .expected = 201,
                        .make = request_reserve};
    struct commits before, after;
    int result = -1;

    if (!testbed || testbed_start_broker(testbed) < 0)
        goto done;
    load.socket = testbed_socket(testbed);
    if (turn_measure(testbed_broker(testbed), &load, &out->turn) < 0)
        goto done;
    load.connections = connections;
    load.first = 0;
    load.count = count;
    if (commits_until_now(testbed, &before) < 0 ||
        turn_measure(testbed_broker(testbed), &load, &out->turn) < 0 ||
        commits_until_now(testbed, &after) < 0)
        goto done;
    out->commits = (after.count - before.count) / (double)count;
    out->commit_us = (after.seconds - before.seconds) / (after.count - before.count) * 1e6;
    if (absence_note(bench->report, testbed, "loop away, reserves") == 0)
        result = testbed_stop_broker(testbed);
done:
    testbed_destroy(testbed);
    return result;
}
