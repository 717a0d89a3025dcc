/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/stall.h"
#include "tests/bench/metric.h"
#include "tests/bench/parts.h"
#include "tests/bench/request.h"
#include "tests/bench/stopwatch.h"
#include "tests/bench/turn.h"
#include "tests/system/rig/await.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two brokers, one with FEW reservations and one that is filled more and more, take turns. */

enum {
    FEW = 1000,
    STEP = 10,        /* so many times as many, from level to level */
    WITH_VNI = 50000, /* more than that have none: there are 64,512, and turns need some */
    TURN_MAX = 10000, /* reserves of one turn, which then all end */
    TURN_FIRST = 1 << 30,
    SYNC_ENTRY = 15, /* bytes of one id with quotes and comma */
    LOOKS = 5,       /* of what is quick, at each level */
    REPLAYED = 1000, /* events */
    PATH_SIZE = 128
};

static const struct report_goal g6 = {.id = "G6",
                                      .what = "memory of a live reservation, at most of them, B",
                                      .sense = REPORT_AT_MOST,
                                      .limit = 400};
static const struct report_goal g7 = {.id = "G7",
                                      .what = "start with most live reservations, s",
                                      .sense = REPORT_AT_MOST,
                                      .limit = 2};
static const struct report_goal g12 = {.id = "G12",
                                       .what = "reserves a second at most live ones / at 1,000",
                                       .sense = REPORT_AT_LEAST,
                                       .limit = 0.9};
static const struct report_goal shown = {.id = "C6",
                                         .what = "reservations that lists or syncs lack (count)",
                                         .sense = REPORT_NEVER_ABOVE,
                                         .limit = 0,
                                         .is_count = true};

struct scale {
    const struct bench *bench;
    struct testbed *few, *many;
    size_t live; /* in the broker of many */
    double empty_bytes;
};

static void point(const struct scale *scale, const char *key, const char *unit, double value)
{
    report_point(scale->bench->report, key, unit, (double)scale->live, value);
}

/* ---- filling ---- */

static int fill(const struct testbed *testbed, size_t from, size_t to)
{
    const size_t border = to < WITH_VNI ? to : from > WITH_VNI ? from : WITH_VNI;
    struct load load = {.socket = testbed_socket(testbed),
                        .connections = 64,
                        .depth = 16,
                        .first = from,
                        .count = border - from,
                        .make = request_reserve,
                        .expected = 201};
    struct load_result result;

    if (load.count > 0 && load_run(&load, &result) < 0)
        return -1;
    load.first = border;
    load.count = to - border;
    load.make = request_reserve_without_vni;
    return load.count > 0 ? load_run(&load, &result) : 0;
}

/* ---- turns ---- */

/* Reserves, which are measured, and then releases, so that as many live as before. */
static int reserve_turn(const struct scale *scale, struct testbed *testbed, struct turn *reserves,
                        struct turn *releases)
{
    const size_t requests = scale->bench->requests;
    struct load load = {.socket = testbed_socket(testbed),
                        .connections = 64,
                        .first = TURN_FIRST,
                        .count = requests < TURN_MAX ? requests : TURN_MAX,
                        .make = request_reserve,
                        .expected = 201};

    if (turn_measure(testbed_broker(testbed), &load, reserves) < 0)
        return -1;
    load.make = request_release;
    load.expected = 202;
    return turn_measure(testbed_broker(testbed), &load, releases);
}

static int take_turns(const struct scale *scale, bool last)
{
    struct turn few, many, few_ends, many_ends;

    for (size_t i = 0; i < scale->bench->repetitions; i++) {
        if (reserve_turn(scale, scale->few, &few, &few_ends) < 0 ||
            reserve_turn(scale, scale->many, &many, &many_ends) < 0)
            return -1;
        point(scale, "reserves", "/s", many.rate);
        point(scale, "releases", "/s", many_ends.rate);
        point(scale, "CPU of a reserve", "µs", many.cpu_us);
        point(scale, "CPU of a reserve / of one at 1,000", "", many.cpu_us / few.cpu_us);
        point(scale, "reserve, median", "µs", many.median_us);
        point(scale, "reserve, 99 % within", "µs", many.p99_us);
        point(scale, "reserves / those at 1,000", "", many.rate / few.rate);
        if (last)
            report_goal(scale->bench->report, &g12, many.rate / few.rate);
    }
    return 0;
}

/* ---- looking ---- */

/* Writes the path of the next page; false: there is none. */
static bool find_next(const char *text, char path[PATH_SIZE])
{
    static const char key[] = "\"next\":\"";
    const char *next = strstr(text, key);

    if (!next)
        return false;
    next += strlen(key);
    snprintf(path, PATH_SIZE, "%.*s", (int)strcspn(next, "\""), next);
    return true;
}

/* Page by page; how long one took. */
static int list_all(const struct scale *scale, struct stopwatch *watch)
{
    char path[PATH_SIZE] = "/v1/jobs?limit=1000";
    size_t pages = 0, listed = 0;
    double sum_ms = 0;
    const char *text;

    do {
        const double ms = stopwatch_ask(watch, "GET", path, NULL, &text);

        if (ms < 0)
            return -1;
        sum_ms += ms;
        pages++;
        for (const char *job = text; (job = strstr(job, "\"job\":")); job++)
            listed++;
    } while (find_next(text, path));
    point(scale, "list, a page of 1,000", "ms", sum_ms / (double)pages);
    report_goal(scale->bench->report, &shown, fabs((double)scale->live - (double)listed));
    return 0;
}

static char *sync_body(size_t live)
{
    char *body = malloc(live * SYNC_ENTRY + 64);
    size_t length = 0;

    if (!body)
        return NULL;
    length = (size_t)sprintf(body, "{\"active\":[");
    for (size_t i = 0; i < live; i++) {
        char id[REQUEST_ID_SIZE];

        request_id(i, id);
        length += (size_t)sprintf(body + length, "%s\"%s\"", i ? "," : "", id);
    }
    memcpy(body + length, "]}", 3);
    return body;
}

static int sync_all(const struct scale *scale, struct stopwatch *watch)
{
    char *body = sync_body(scale->live), wanted[64];
    int result = body ? 0 : -1;

    snprintf(wanted, sizeof wanted, "\"confirmed\":%zu,\"suspect_count\":0", scale->live);
    for (int i = 0; result == 0 && i < LOOKS; i++) {
        const char *text;
        const long long cpu = process_cpu_ns(testbed_broker(scale->many));
        const double ms = stopwatch_ask(watch, "POST", "/v1/clusters/elcap/sync", body, &text);

        result = ms < 0 ? -1 : 0;
        if (result == 0) {
            point(scale, "sync of all ids", "ms", ms);
            point(scale, "CPU of a sync", "ms",
                  (double)(process_cpu_ns(testbed_broker(scale->many)) - cpu) / 1e6);
            report_goal(scale->bench->report, &shown, !strstr(text, wanted));
        }
    }
    free(body);
    return result;
}

static int replay(const struct scale *scale)
{
    char path[PATH_SIZE];
    const double last = metric_value(scale->many, "mcastd_events_total");
    struct plainhttp_reply reply;

    snprintf(path, sizeof path, "/v1/events?after=%.0f&follow=0", last - REPLAYED);
    const int64_t began = await_now_ns();
    const int status = plainhttp_call(testbed_http(scale->many), "GET", path, NULL, &reply);
    point(scale, "replay of 1,000 events", "ms", (double)(await_now_ns() - began) / 1e6);
    size_t told = reply.text && strncmp(reply.text, "id: ", 4) == 0;
    for (const char *at = reply.text; at && (at = strstr(at, "\nid: ")); at++)
        told++;
    plainhttp_reply_release(&reply);
    if (status == 200 && told == REPLAYED)
        return 0;
    fprintf(stderr, "GET %s was answered %d, with %zu events\n", path, status, told);
    return -1;
}

static int look_at(const struct scale *scale, struct stopwatch *watch, const char *path,
                   const char *key)
{
    const double ms = stopwatch_ask(watch, "GET", path, NULL, NULL);

    if (ms < 0)
        return -1;
    point(scale, key, "ms", ms);
    return 0;
}

/* By a client that is given them as they are now, not the text of another's question. */
static int scrape(const struct scale *scale)
{
    struct plainhttp_reply reply;
    const int64_t began = await_now_ns();
    const int status = plainhttp_call(testbed_http(scale->many), "GET", "/metrics", NULL, &reply);

    point(scale, "scrape of the metrics", "ms", (double)(await_now_ns() - began) / 1e6);
    plainhttp_reply_release(&reply);
    return status == 200 ? 0 : -1;
}

static int look(const struct scale *scale)
{
    struct stopwatch *watch = stopwatch_create(testbed_socket(scale->many));
    int result = watch && list_all(scale, watch) == 0 ? sync_all(scale, watch) : -1;

    for (int i = 0; result == 0 && i < LOOKS; i++)
        if (replay(scale) < 0 || scrape(scale) < 0 ||
            look_at(scale, watch, "/v1/clusters/elcap/jobs/f00000000000", "show one job") < 0)
            result = -1;
    stopwatch_destroy(watch);
    return result;
}

/* ---- starting ---- */

static int start_again(const struct scale *scale, bool last)
{
    if (testbed_stop_broker(scale->many) < 0)
        return -1;
    const int64_t began = await_now_ns();
    if (testbed_start_broker(scale->many) < 0)
        return -1;
    const double seconds = (double)(await_now_ns() - began) / 1e9;
    point(scale, "start", "s", seconds);
    point(scale, "CPU of a start", "s", (double)process_cpu_ns(testbed_broker(scale->many)) / 1e9);
    if (last)
        report_goal(scale->bench->report, &g7, seconds);
    return 0;
}

/* ---- levels ---- */

static int weigh(const struct scale *scale, bool last)
{
    const double bytes =
        metric_value(scale->many, "process_resident_memory_bytes") - scale->empty_bytes;
    const double each = bytes / (double)scale->live;

    point(scale, "memory of a reservation", "B", each);
    if (last)
        report_goal(scale->bench->report, &g6, each);
    return bytes >= 0 ? 0 : -1;
}

static int level(struct scale *scale, size_t live)
{
    const bool last = live == scale->bench->live;

    printf("G6, G7, G12, %zu live reservations\n", live);
    fflush(stdout);
    const size_t before = scale->live;
    scale->live = live;
    if (fill(scale->many, before, live) < 0 || weigh(scale, last) < 0 ||
        take_turns(scale, last) < 0 || look(scale) < 0 ||
        absence_note(scale->bench->report, scale->few, "loop away, 1,000 live reservations") < 0 ||
        absence_note(scale->bench->report, scale->many, "loop away, more and more of them") < 0)
        return -1;
    for (size_t i = 0; i < scale->bench->repetitions; i++)
        if (start_again(scale, last) < 0)
            return -1;
    return 0;
}

static int measure(struct scale *scale)
{
    if (!scale->few || !scale->many || testbed_start_broker(scale->few) < 0 ||
        fill(scale->few, 0, FEW) < 0 || testbed_start_broker(scale->many) < 0)
        return -1;
    scale->empty_bytes = metric_value(scale->many, "process_resident_memory_bytes");
    for (size_t live = FEW; live < scale->bench->live; live *= STEP)
        if (level(scale, live) < 0)
            return -1;
    if (level(scale, scale->bench->live) < 0)
        return -1;
    return testbed_stop_broker(scale->few) < 0 ? -1 : testbed_stop_broker(scale->many);
}

int part_scale(const struct bench *bench)
{
    /* VNIs of a turn are free again for the next. */
    const struct testbed_options options = {
        .mcastd = bench->mcastd, .vni = "hold = 0s\n", .hwcoll = request_hwcoll};
    struct scale scale = {.bench = bench};

    scale.few = testbed_create(&options);
    scale.many = testbed_create(&options);
    const int result = measure(&scale);
    testbed_destroy(scale.few);
    testbed_destroy(scale.many);
    return result;
}
