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

static int measure(const char *how, const struct arrival_options *options, struct arrival *out)
{
    if (arrival_measure(options, out) < 0)
        return -1;
    printf(
        "  %s, %zu at once: %.1f s, the broker computed %.0f µs a node and %.1f ms in one turn at "
        "most; closed %zu, gave up %zu, refused %zu\n",
        how, options->at_once, out->seconds, out->cpu_us, out->turn_cpu_ms, out->closed,
        out->given_up, out->refused);
    fflush(stdout);
    return 0;
}

static struct arrival_options options_of(const struct bench *bench, const char *names)
{
    return (struct arrival_options){.mcastd = bench->mcastd,
                                    .nodes = bench->arrivals,
                                    .at_once = bench->arrivals,
                                    .spread_ms = SPREAD_MS,
                                    .names = names,
                                    .connections_max = bench->connections_max,
                                    .report = bench->report,
                                    .away = "loop away, a crowd comes over TLS"};
}

/* What a report costs when there is no crowd. */
static int measure_stream(const struct bench *bench, const char *names)
{
    struct arrival_options options = options_of(bench, names);
    struct arrival stream;

    options.nodes = bench->nodes / 8;
    options.at_once = STREAM;
    options.spread_ms = 0;
    options.away = "loop away, nodes come over TLS";
    if (measure(names ? "MUNGE" : "certificates", &options, &stream) < 0)
        return -1;
    report_figure(bench->report,
                  names ? "reports with MUNGE, each over a new TLS connection"
                        : "reports with a certificate, each over a new TLS connection",
                  "/s", (double)options.nodes / stream.seconds);
    report_figure(bench->report,
                  names ? "CPU of such a report with MUNGE"
                        : "CPU of such a report with a certificate",
                  "µs", stream.cpu_us);
    return 0;
}

static int measure_certificates(const struct bench *bench)
{
    const struct arrival_options options = options_of(bench, NULL);
    struct arrival crowd;

    if (measure("certificates", &options, &crowd) < 0)
        return -1;
    report_goal(bench->report, &g15, (double)(crowd.closed + crowd.refused));
    report_figure(bench->report, "a crowd with certificates reported after", "ms",
                  crowd.seconds * 1e3);
    report_figure(bench->report, "CPU of a report of it", "µs", crowd.cpu_us);
    report_figure(bench->report, "times that one of it gave up", "", (double)crowd.given_up);
    return 0;
}

static int measure_munge(const struct bench *bench)
{
    struct arrival_options options = options_of(bench, bench->names);
    struct arrival crowd;

    if (measure("MUNGE", &options, &crowd) < 0)
        return -1;
    report_goal(bench->report, &g15, (double)(crowd.closed + crowd.refused));
    report_goal(bench->report, &g23, crowd.seconds);
    report_goal(bench->report, &g23c, crowd.cpu_us / 1e3);
    report_goal(bench->report, &g23g, (double)crowd.given_up);
    report_goal(bench->report, &g23t, crowd.turn_cpu_ms);
    options.reserves = true;
    if (measure("MUNGE, beside small jobs", &options, &crowd) < 0)
        return -1;
    printf("  reserves of small jobs: %.0f µs before, %.0f µs amid it, 99 %% within %.0f µs\n",
           crowd.quiet_us, crowd.median_us, crowd.p99_us);
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
    if ((munge && measure_stream(bench, bench->names) < 0) || measure_stream(bench, NULL) < 0)
        return -1;
    for (size_t i = 0; munge && i < bench->repetitions; i++)
        if (measure_munge(bench) < 0)
            return -1;
    return measure_certificates(bench);
}
