/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/absence.h"
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
    PATIENCE_MS = 60000,
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

static int reserve(const struct stage *stage, size_t first, size_t count, struct turn *out)
{
    const struct load load = {.socket = stage_socket(stage),
                              .connections = 16,
                              .first = first,
                              .count = count,
                              .make = request_reserve,
                              .expected = 201};

    return turn_measure(stage_broker(stage), &load, out);
}

/* What those cost that wait, and then each is told of as many events. */
static int with_subscribers(const struct bench *bench, struct stage *stage,
                            struct subscribers *subscribers, double memory_before)
{
    const double count = (double)bench->subscribers;
    const double open = metric_value(stage, "mcastd_event_subscribers");
    const double memory = metric_value(stage, "process_resident_memory_bytes") - memory_before;
    struct turn turn;

    if (open != count) {
        fprintf(stderr, "%.0f of %zu subscribers are there\n", open, bench->subscribers);
        return -1;
    }
    const long long cpu = process_cpu_ns(stage_broker(stage));
    const int64_t began = await_now_ns();
    if (reserve(stage, EVENTS, EVENTS, &turn) < 0)
        return -1;
    const size_t lost = subscribers_read(subscribers, EVENTS, PATIENCE_MS);
    const double seconds = (double)(await_now_ns() - began) / 1e9;
    report_goal(bench->report, &missed, (double)lost);
    report_figure(bench->report, "memory of a subscriber", "B", memory / count);
    report_figure(bench->report, "events told to all subscribers", "/s", EVENTS * count / seconds);
    report_figure(bench->report, "CPU to tell one subscriber one event", "µs",
                  (double)(process_cpu_ns(stage_broker(stage)) - cpu) / 1e3 / EVENTS / count);
    report_figure(bench->report, "reserve, all subscribers being told", "µs", turn.median_us);
    return absence_note(bench->report, stage, "loop away, subscribers");
}

static int measure_subscribers(const struct bench *bench)
{
    const struct stage_options options = {.mcastd = bench->mcastd, .hwcoll = request_hwcoll};
    struct stage *stage = stage_create(&options);
    struct subscribers *subscribers = NULL;
    struct turn quiet;
    int result = -1;

    if (!stage || stage_start_broker(stage) < 0 || reserve(stage, 0, EVENTS, &quiet) < 0)
        goto done;
    const double last = metric_value(stage, "mcastd_events_total");
    const double memory = metric_value(stage, "process_resident_memory_bytes");
    report_figure(bench->report, "reserve, nobody being told", "µs", quiet.median_us);
    subscribers = subscribers_open(stage_socket(stage), bench->subscribers, (uint64_t)last);
    if (subscribers && with_subscribers(bench, stage, subscribers, memory) == 0) {
        subscribers_close(subscribers);
        subscribers = NULL;
        result = stage_stop_broker(stage);
    }
done:
    subscribers_close(subscribers);
    stage_destroy(stage);
    return result;
}

/* ---- more than there is room for ---- */

/* What is over the bound is told so, and counted: nothing is dropped without a word. */
static int turn_away(const struct bench *bench, struct stage *stage)
{
    /* The rig's own client has a connection, too. */
    static const char refused[] = "mcastd_http_connections_refused_total{reason=\"limit\"}";
    const double before = metric_value(stage, refused);
    struct subscribers *all = subscribers_open(stage_socket(stage), PLACES - 1, 0);
    size_t told = 0;

    if (!all || before < 0) {
        subscribers_close(all);
        return -1;
    }
    for (int i = 0; i < SURPLUS; i++)
        told += subscribers_turned_away(stage_socket(stage));
    const double counted = metric_value(stage, refused) - before;
    subscribers_close(all);
    report_goal(bench->report, &silent, SURPLUS - (double)told);
    report_goal(bench->report, &uncounted, fabs((double)told - counted));
    return 0;
}

static int measure_bound(const struct bench *bench)
{
    const struct stage_options options = {.mcastd = bench->mcastd,
                                          .broker = "connections_max = 64\n"};
    struct stage *stage = stage_create(&options);
    const int result =
        stage && stage_start_broker(stage) == 0 && turn_away(bench, stage) == 0 ? 0 : -1;

    stage_destroy(stage);
    return result;
}

/* ---- the fabric manager goes and comes back ---- */

struct outage {
    struct stage *stage;
    size_t jobs;
    double pending_most; /* releases that waited for it */
};

static int kill_and_start(void *arg, size_t done)
{
    struct outage *outage = arg;
    const size_t third = outage->jobs / 3;
    const bool away = done >= third && done < 2 * third;
    const double pending = metric_value(outage->stage, "mcastd_fabric_manager_releases_pending");

    if (pending > outage->pending_most)
        outage->pending_most = pending;
    if (away && stage_fm_runs(outage->stage))
        stage_kill_fm(outage->stage);
    if (!away && !stage_fm_runs(outage->stage))
        return stage_start_fm(outage->stage);
    return 0;
}

static int measure_outage(const struct bench *bench)
{
    const struct stage_options options = {.mcastd = bench->mcastd,
                                          .mock_fm = bench->mock_fm,
                                          .fm = "link_retry = 100ms\n",
                                          .hwcoll = request_hwcoll};
    struct stage *stage = stage_create(&options);
    const size_t lot =
        bench->jobs / LOTS < WHOLEJOBS_AT_ONCE ? bench->jobs / LOTS : WHOLEJOBS_AT_ONCE;
    struct outage outage = {.stage = stage, .jobs = LOTS * lot};
    const struct wholejobs jobs = {.stage = stage,
                                   .count = outage.jobs,
                                   .lot = lot,
                                   .connections = 32,
                                   .meanwhile = kill_and_start,
                                   .arg = &outage};
    double seconds, held;
    int result = -1;

    if (stage && stage_start_fm(stage) == 0 && stage_start_broker(stage) == 0 &&
        stage_await_link(stage) == 0 && wholejobs_run(&jobs, &seconds) == 0 &&
        stage_await_link(stage) == 0 && wholejobs_await_end(stage) == 0 &&
        (held = wholejobs_fm_holds(stage)) >= 0 &&
        absence_note(bench->report, stage, "loop away, fabric manager's restart") == 0) {
        report_goal(bench->report, &left, held);
        report_figure(bench->report, "jobs while the fabric manager goes and comes back", "/s",
                      (double)outage.jobs / seconds);
        report_figure(bench->report, "releases that waited for it, at most", "",
                      outage.pending_most);
        result = stage_stop_broker(stage);
    }
    stage_destroy(stage);
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
