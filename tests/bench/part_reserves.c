/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/commits.h"
#include "tests/bench/parts.h"
#include "tests/bench/request.h"
#include "tests/bench/reserveturn.h"
#include "tests/bench/server.h"

#include <stdio.h>

enum { ECHO_FACTOR = 2, SERIAL_SHARE = 16 };

static const struct report_goal g1 = {.id = "G1",
                                      .what = "durable reserves / echoes, 64 connections",
                                      .sense = REPORT_AT_LEAST,
                                      .limit = 0.60};
static const struct report_goal g2 = {.id = "G2",
                                      .what = "durable reserves / echoes, 16 connections",
                                      .sense = REPORT_AT_LEAST,
                                      .limit = 0.35};
static const struct report_goal g3 = {.id = "G3",
                                      .what = "time of a reserve / of a bare commit, 1 connection",
                                      .sense = REPORT_AT_MOST,
                                      .limit = 1.3};
/* A count, but none that decides: how many of 64 requests meet in a commit depends on how fast the
 * disk is. */
static const struct report_goal g4 = {.id = "G4",
                                      .what = "commits a reserve, 64 connections (count)",
                                      .sense = REPORT_AT_MOST,
                                      .limit = 1.0 / 24};
static const struct report_goal g5 = {.id = "G5",
                                      .what = "CPU of a durable reserve / of an echo",
                                      .sense = REPORT_AT_MOST,
                                      .limit = 1.8};

static int echo_turn(const struct bench *bench, const struct server *echo, unsigned connections,
                     size_t count, struct turn *out)
{
    struct load load = {.socket = echo->socket,
                        .connections = connections,
                        .count = bench->warm_up,
                        .make = request_echo,
                        .expected = 200};

    if (turn_measure(echo->process, &load, out) < 0)
        return -1;
    load.count = count;
    return turn_measure(echo->process, &load, out);
}

static int at_64(const struct bench *bench, const struct server *echo)
{
    struct report *report = bench->report;
    struct turn echoed;
    struct reserveturn reserved;

    if (echo_turn(bench, echo, 64, bench->requests * ECHO_FACTOR, &echoed) < 0 ||
        reserveturn_run(bench, 64, bench->requests, &reserved) < 0)
        return -1;
    report_goal(report, &g1, reserved.turn.rate / echoed.rate);
    report_goal(report, &g4, reserved.commits);
    report_goal(report, &g5, reserved.turn.cpu_us / echoed.cpu_us);
    report_figure(report, "echo, 64 connections", "/s", echoed.rate);
    report_figure(report, "reserve, 64 connections", "/s", reserved.turn.rate);
    report_figure(report, "reserve, 64 connections, 99 % within", "µs", reserved.turn.p99_us);
    report_figure(report, "CPU of an echo", "µs", echoed.cpu_us);
    report_figure(report, "CPU of a reserve", "µs", reserved.turn.cpu_us);
    return 0;
}

static int at_16(const struct bench *bench, const struct server *echo)
{
    const size_t count = bench->requests / 2;
    struct turn echoed;
    struct reserveturn reserved;

    if (echo_turn(bench, echo, 16, count * ECHO_FACTOR, &echoed) < 0 ||
        reserveturn_run(bench, 16, count, &reserved) < 0)
        return -1;
    report_goal(bench->report, &g2, reserved.turn.rate / echoed.rate);
    report_figure(bench->report, "echo, 16 connections", "/s", echoed.rate);
    report_figure(bench->report, "reserve, 16 connections", "/s", reserved.turn.rate);
    return 0;
}

static int at_1(const struct bench *bench, const struct server *echo)
{
    const size_t count = bench->requests / SERIAL_SHARE;
    struct turn echoed;
    struct reserveturn reserved;
    const int64_t commit_ns = commits_median_ns(echo->folder, count);

    if (commit_ns < 0 || echo_turn(bench, echo, 1, count, &echoed) < 0 ||
        reserveturn_run(bench, 1, count, &reserved) < 0)
        return -1;
    const double commit_us = (double)commit_ns / 1e3;
    report_goal(bench->report, &g3, reserved.turn.median_us / commit_us);
    report_figure(bench->report, "reserve, 1 connection", "µs", reserved.turn.median_us);
    report_figure(bench->report, "of which its commit, on average", "µs", reserved.commit_us);
    report_figure(bench->report, "echo, 1 connection", "µs", echoed.median_us);
    report_figure(bench->report, "bare SQLite commit", "µs", commit_us);
    return 0;
}

int part_reserves(const struct bench *bench)
{
    struct server echo = {.process = NULL};
    const char *argv[] = {bench->echo, echo.socket, NULL};
    int result = server_prepare(&echo, "echo.sock") == 0 ? server_start(&echo, argv) : -1;

    for (size_t i = 0; result == 0 && i < bench->repetitions; i++) {
        printf("G1–G5, repetition %zu of %zu\n", i + 1, bench->repetitions);
        fflush(stdout);
        result =
            at_64(bench, &echo) < 0 || at_16(bench, &echo) < 0 || at_1(bench, &echo) < 0 ? -1 : 0;
    }
    server_stop(&echo);
    return result;
}
