/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/parts.h"
#include "tests/bench/storm.h"

#include <stdio.h>

static const struct report_goal g13 = {.id = "G13",
                                       .what = "durable node reports a second, of one job",
                                       .sense = REPORT_AT_LEAST,
                                       .limit = 20000};
/* A count, but like G4 none that decides: with few nodes on a busy machine a commit begins before
 * many wait for it. */
static const struct report_goal g14 = {.id = "G14",
                                       .what = "commits a node report (count)",
                                       .sense = REPORT_AT_MOST,
                                       .limit = 1.0 / 24};
static double greater(double a, double b)
{
    return a > b ? a : b;
}

/* Of the two waves the worse one counts. */
static int measure_reports(const struct bench *bench)
{
    const struct storm_options storm_options = {
        .mcastd = bench->mcastd, .nodes = bench->nodes, .report = bench->report};
    const double nodes = (double)bench->nodes;
    struct storm storm;

    if (storm_measure(&storm_options, &storm) < 0)
        return -1;
    const struct storm_wave *created = &storm.created, *destroyed = &storm.destroyed;
    const double seconds = greater(created->seconds, destroyed->seconds);
    const double commits = greater(created->commits, destroyed->commits);
    report_goal(bench->report, &g13, nodes / seconds);
    report_goal(bench->report, &g14, commits / nodes);
    report_figure(bench->report, "nodes report \"created\"", "/s", nodes / created->seconds);
    report_figure(bench->report, "nodes report \"destroyed\"", "/s", nodes / destroyed->seconds);
    report_figure(bench->report, "CPU of a report", "µs",
                  greater(created->cpu_us, destroyed->cpu_us));
    report_figure(bench->report, "all of the job's nodes reported after", "ms", seconds * 1e3);
    report_figure(bench->report, "commits meanwhile", "", commits);
    report_figure(bench->report, "reserve of another job meanwhile", "µs",
                  greater(created->reserve_median_us, destroyed->reserve_median_us));
    report_figure(bench->report, "the same, 99 % within", "µs",
                  greater(created->reserve_p99_us, destroyed->reserve_p99_us));
    report_figure(bench->report, "memory a report, while its job lives", "B", storm.memory_bytes);
    report_figure(bench->report, "of the ledger", "B", storm.ledger_bytes);
    return 0;
}

int part_reports(const struct bench *bench)
{
    int result = 0;

    for (size_t i = 0; result == 0 && i < bench->repetitions; i++) {
        printf("G13–G14, %zu nodes report, repetition %zu of %zu\n", bench->nodes, i + 1,
               bench->repetitions);
        fflush(stdout);
        result = measure_reports(bench);
    }
    return result;
}
