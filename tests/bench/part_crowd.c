/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/arrival.h"
#include "tests/bench/parts.h"

#include <stdio.h>
#include <unistd.h>

/* The nodes of the whole machine come within a second, each over a new TLS connection. */

enum { SPREAD_MS = 1000, STREAM = 32 };

static const struct report_goal g15 = {.id = "G15",
                                       .what = "nodes of a crowd over TLS sent away (count)",
                                       .sense = REPORT_AT_MOST,
                                       .limit = 0,
                                       .is_count = true};
static const struct report_goal g22 = {.id = "G22",
                                       .what = "small reserves amid a crowd / before it, 99 %",
                                       .sense = REPORT_AT_MOST,
                                       .limit = 3};
static const struct report_goal g23 = {.id = "G23",
                                       .what = "a crowd with MUNGE has reported after, s",
                                       .sense = REPORT_AT_MOST,
                                       .limit = 12};
static const struct report_goal g23c = {.id = "G23c",
                                        .what = "the broker's CPU of such a report, ms",
                                        .sense = REPORT_AT_MOST,
                                        .limit = 0.7};
static const struct report_goal g23g = {.id = "G23g",
                                        .what = "times that a node of it gave up (count)",
                                        .sense = REPORT_AT_MOST,
                                        .limit = 0};
static const struct report_goal g23t = {.id = "G23t",
                                        .what = "longest turn amid it, ms of CPU",
                                        .sense = REPORT_NEVER_ABOVE,
                                        .limit = 5};

/* What such a report costs when there is no crowd. */
static int measure_stream(const struct bench *bench)
{
    const struct arrival_options options = {.mcastd = bench->mcastd,
                                            .nodes = bench->nodes / 8,
                                            .at_once = STREAM,
                                            .connections_max = bench->connections_max,
                                            .report = bench->report,
                                            .away = "loop away, nodes come over TLS"};
    struct arrival stream;

    if (arrival_measure(&options, &stream) < 0)
        return -1;
    report_figure(bench->report, "nodes report, each over a new TLS connection", "/s",
                  (double)options.nodes / stream.seconds);
    report_figure(bench->report, "CPU of such a report", "µs", stream.cpu_us);
    return 0;
}

static void print_arrival(const char *how, const struct arrival *crowd)
{
    printf("  %s: %.1f s, %.0f µs of the broker's CPU a node, a turn computed %.1f ms at most; "
           "closed %zu, gave up %zu, refused %zu\n",
           how, crowd->seconds, crowd->cpu_us, crowd->turn_cpu_ms, crowd->closed, crowd->given_up,
           crowd->refused);
    fflush(stdout);
}

static struct arrival_options crowd_of(const struct bench *bench)
{
    return (struct arrival_options){.mcastd = bench->mcastd,
                                    .nodes = bench->arrivals,
                                    .at_once = bench->arrivals,
                                    .spread_ms = SPREAD_MS,
                                    .connections_max = bench->connections_max,
                                    .report = bench->report,
                                    .away = "loop away, a crowd comes over TLS"};
}

static int measure_certificates(const struct bench *bench)
{
    const struct arrival_options options = crowd_of(bench);
    struct arrival crowd;

    if (arrival_measure(&options, &crowd) < 0)
        return -1;
    print_arrival("certificates", &crowd);
    report_goal(bench->report, &g15, (double)(crowd.closed + crowd.refused));
    report_figure(bench->report, "a crowd with certificates reported after", "ms",
                  crowd.seconds * 1e3);
    report_figure(bench->report, "CPU of such a report with a certificate", "µs", crowd.cpu_us);
    report_figure(bench->report, "times that one with a certificate gave up", "",
                  (double)crowd.given_up);
    return 0;
}

static int measure_munge(const struct bench *bench)
{
    struct arrival_options options = crowd_of(bench);
    struct arrival crowd;

    options.names = bench->names;
    if (arrival_measure(&options, &crowd) < 0)
        return -1;
    print_arrival("MUNGE", &crowd);
    report_goal(bench->report, &g15, (double)(crowd.closed + crowd.refused));
    report_goal(bench->report, &g23, crowd.seconds);
    report_goal(bench->report, &g23c, crowd.cpu_us / 1e3);
    report_goal(bench->report, &g23g, (double)crowd.given_up);
    report_goal(bench->report, &g23t, crowd.turn_cpu_ms);
    options.reserves = true;
    if (arrival_measure(&options, &crowd) < 0)
        return -1;
    print_arrival("MUNGE, and small jobs", &crowd);
    report_goal(bench->report, &g22, crowd.p99_us / crowd.quiet_us);
    report_figure(bench->report, "reserve of a small job before a crowd", "µs", crowd.quiet_us);
    report_figure(bench->report, "the same amid it", "µs", crowd.median_us);
    report_figure(bench->report, "the same amid it, 99 % within", "µs", crowd.p99_us);
    return 0;
}

int part_crowd(const struct bench *bench)
{
    const bool munge = geteuid() == 0 && access(bench->names, R_OK) == 0;

    printf("G15, G22, G23, %zu nodes come within a second\n", bench->arrivals);
    if (!munge)
        printf("only root, and no build with sanitizers, can try it with MUNGE\n");
    fflush(stdout);
    for (size_t i = 0; munge && i < bench->repetitions; i++)
        if (measure_munge(bench) < 0)
            return -1;
    return measure_stream(bench) < 0 ? -1 : measure_certificates(bench);
}
