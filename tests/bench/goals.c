#include "tests/bench/goals.h"

#include "tests/bench/arrival.h"
#include "tests/bench/commits.h"
#include "tests/bench/load.h"
#include "tests/bench/metric.h"
#include "tests/bench/storm.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 2000, ECHO_FACTOR = 2, SERIAL_SHARE = 16, PATH_SIZE = 256, JOBS_AT_ONCE = 100 };

/* Calls in flight, and so connections, at most: the goal of G8. */
#define FM_PARALLEL 16
#define TEXT_OF_(value) #value
#define TEXT_OF(value) TEXT_OF_(value)

enum goal { G1, G2, G3, G4, G5, G8, G13, G14, G15, GOALS };

static struct report_goal goals[GOALS] = {
    [G1] = {.id = "G1",
            .what = "durable reserves / echoes, 64 connections",
            .sense = REPORT_AT_LEAST,
            .limit = 0.60},
    [G2] = {.id = "G2",
            .what = "durable reserves / echoes, 16 connections",
            .sense = REPORT_AT_LEAST,
            .limit = 0.35},
    [G3] = {.id = "G3",
            .what = "time of a reserve / of a bare commit, 1 connection",
            .sense = REPORT_AT_MOST,
            .limit = 1.3},
    [G4] = {.id = "G4",
            .what = "commits a reserve, 64 connections (count)",
            .sense = REPORT_AT_MOST,
            .limit = 1.0 / 24},
    [G5] = {.id = "G5",
            .what = "CPU of a durable reserve / of an echo",
            .sense = REPORT_AT_MOST,
            .limit = 1.8},
    [G8] = {.id = "G8",
            .what = "connections to the fabric manager (count)",
            .sense = REPORT_AT_MOST,
            .limit = FM_PARALLEL},
    [G13] = {.id = "G13",
             .what = "durable node reports a second, of one job",
             .sense = REPORT_AT_LEAST,
             .limit = 20000},
    [G14] = {.id = "G14",
             .what = "commits a node report (count)",
             .sense = REPORT_AT_MOST,
             .limit = 1.0 / 24},
    [G15] = {.id = "G15",
             .what = "nodes of a crowd over TLS sent away (count)",
             .sense = REPORT_AT_MOST,
             .limit = 0},
};

enum figure {
    ECHO_64,
    RESERVE_64,
    ECHO_16,
    RESERVE_16,
    ECHO_CPU,
    RESERVE_CPU,
    RESERVE_P99,
    RESERVE_LATENCY,
    COMMIT_LATENCY,
    JOBS_RATE,
    FM_CALLS,
    REPORTS_CREATED,
    REPORTS_DESTROYED,
    REPORTS_CPU,
    REPORTS_LAST,
    REPORTS_COMMITS,
    REPORTS_RESERVE,
    REPORTS_RESERVE_P99,
    REPORT_MEMORY,
    REPORT_LEDGER,
    ARRIVALS,
    ARRIVAL_CPU,
    ARRIVALS_LAST,
    ARRIVALS_AGAIN,
    FIGURES
};

static struct report_figure figures[FIGURES] = {
    [ECHO_64] = {.key = "echo, 64 connections", .unit = "/s"},
    [RESERVE_64] = {.key = "reserve, 64 connections", .unit = "/s"},
    [ECHO_16] = {.key = "echo, 16 connections", .unit = "/s"},
    [RESERVE_16] = {.key = "reserve, 16 connections", .unit = "/s"},
    [ECHO_CPU] = {.key = "CPU of an echo", .unit = "µs"},
    [RESERVE_CPU] = {.key = "CPU of a reserve", .unit = "µs"},
    [RESERVE_P99] = {.key = "reserve, 64 connections, 99 % within", .unit = "µs"},
    [RESERVE_LATENCY] = {.key = "reserve, 1 connection", .unit = "µs"},
    [COMMIT_LATENCY] = {.key = "bare SQLite commit", .unit = "µs"},
    [JOBS_RATE] = {.key = "jobs started and ended, with addresses", .unit = "/s"},
    [FM_CALLS] = {.key = "calls of the fabric manager a job", .unit = ""},
    [REPORTS_CREATED] = {.key = "nodes report \"created\"", .unit = "/s"},
    [REPORTS_DESTROYED] = {.key = "nodes report \"destroyed\"", .unit = "/s"},
    [REPORTS_CPU] = {.key = "CPU of a report", .unit = "µs"},
    [REPORTS_LAST] = {.key = "all of the job's nodes reported after", .unit = "ms"},
    [REPORTS_COMMITS] = {.key = "commits meanwhile", .unit = ""},
    [REPORTS_RESERVE] = {.key = "reserve of another job meanwhile", .unit = "µs"},
    [REPORTS_RESERVE_P99] = {.key = "the same, 99 % within", .unit = "µs"},
    [REPORT_MEMORY] = {.key = "memory a report, while its job lives", .unit = "B"},
    [REPORT_LEDGER] = {.key = "of the ledger", .unit = "B"},
    [ARRIVALS] = {.key = "nodes report, each over a new TLS connection", .unit = "/s"},
    [ARRIVAL_CPU] = {.key = "CPU of such a report", .unit = "µs"},
    [ARRIVALS_LAST] = {.key = "all that came at once reported after", .unit = "ms"},
    [ARRIVALS_AGAIN] = {.key = "times that one gave up and came again", .unit = ""},
};

static struct report report = {
    .goals = goals, .goal_count = GOALS, .figures = figures, .figure_count = FIGURES};

/* ---- what is asked ---- */

/* A body of 200 bytes, as large as that of a reserve with a real node list. */
static void make_echo(size_t index, struct load_request *out)
{
    out->method = "POST";
    snprintf(out->path, sizeof out->path, "/echo");
    const int length =
        snprintf(out->body, sizeof out->body,
                 "{\"number\":%zu,\"uid\":5588,\"nodes\":\"elcap[1-16]\",\"pad\":\"", index);
    memset(out->body + length, 'x', (size_t)(198 - length));
    memcpy(out->body + 198, "\"}", 3);
}

/* Below the minimum size: one VNI, no multicast addresses, one commit. */
static void make_reserve(size_t index, struct load_request *out)
{
    out->method = "PUT";
    snprintf(out->path, sizeof out->path, "/v1/clusters/elcap/jobs/f%zu", index);
    snprintf(out->body, sizeof out->body,
             "{\"uid\":5588,\"nodes\":\"elcap[1-16]\",\"cores_per_node\":96,\"vni_count\":1,"
             "\"hwcoll\":\"auto\",\"traffic_classes\":[\"best_effort\",\"low_latency\"]}");
}

static void make_warm_up(size_t index, struct load_request *out)
{
    make_reserve(index, out);
    snprintf(out->path, sizeof out->path, "/v1/clusters/elcap/jobs/warm%zu", index);
}

static void make_eligible(size_t index, struct load_request *out)
{
    make_reserve(index, out);
    snprintf(out->body, sizeof out->body, "{\"uid\":5588,\"nodes\":\"elcap[1-128]\"}");
}

static void make_release(size_t index, struct load_request *out)
{
    out->method = "DELETE";
    snprintf(out->path, sizeof out->path, "/v1/clusters/elcap/jobs/f%zu", index);
    out->body[0] = '\0';
}

/* ---- one turn of one program ---- */

struct turn {
    double rate;   /* requests a second */
    double cpu_us; /* of the program, a request */
    double median_us, p99_us;
    double commits; /* a request; of the broker */
};

static int measure(struct process *process, const struct load *load, struct turn *out)
{
    struct load_result result;
    const long long cpu = process_cpu_ns(process);

    if (load_run(load, &result) < 0)
        return -1;
    const double requests = (double)load->count;
    *out = (struct turn){.rate = requests / result.seconds,
                         .cpu_us = (double)(process_cpu_ns(process) - cpu) / 1e3 / requests,
                         .median_us = (double)result.median_ns / 1e3,
                         .p99_us = (double)result.p99_ns / 1e3};
    return 0;
}

/* A new broker with an empty ledger for each turn, so that all turns are alike. */
static int reserve_turn(const struct goals_options *options, unsigned connections, size_t count,
                        struct turn *out)
{
    const struct stage_options stage_options = {.mcastd = options->mcastd,
                                                .hwcoll = "min_nodes = 64\n"
                                                          "total_addresses = 4086\n"
                                                          "system_nodes = 11136\n"};
    struct stage *stage = stage_create(&stage_options);
    struct turn warm_up;
    struct load load = {.connections = 64, .expected = 201, .make = make_warm_up};
    int result = -1;

    if (!stage || stage_start_broker(stage) < 0)
        goto done;
    load.socket = stage_socket(stage);
    load.count = WARM_UP;
    if (measure(stage_broker(stage), &load, &warm_up) < 0)
        goto done;
    load.connections = connections;
    load.make = make_reserve;
    load.count = count;
    const double before = metric_value(stage, "mcastd_commits_total");
    if (before < 0 || measure(stage_broker(stage), &load, out) < 0)
        goto done;
    out->commits = (metric_value(stage, "mcastd_commits_total") - before) / (double)count;
    result = stage_stop_broker(stage);
done:
    stage_destroy(stage);
    return result;
}

struct echo {
    char folder[FOLDER_PATH_SIZE], socket[PATH_SIZE];
    struct process *process;
};

static int echo_turn(const struct echo *echo, unsigned connections, size_t count, struct turn *out)
{
    struct load load = {.socket = echo->socket,
                        .connections = connections,
                        .count = WARM_UP,
                        .make = make_echo,
                        .expected = 200};

    if (measure(echo->process, &load, out) < 0)
        return -1;
    load.count = count;
    return measure(echo->process, &load, out);
}

/* ---- the goals ---- */

static int compare(const struct goals_options *options, const struct echo *echo,
                   unsigned connections, struct turn *echoed, struct turn *reserved)
{
    const size_t count = connections == 64 ? options->requests : options->requests / 2;

    return echo_turn(echo, connections, count * ECHO_FACTOR, echoed) < 0 ||
                   reserve_turn(options, connections, count, reserved) < 0
               ? -1
               : 0;
}

static int repeat(const struct goals_options *options, const struct echo *echo)
{
    const size_t serial = options->requests / SERIAL_SHARE;
    struct turn echoed, reserved;

    if (compare(options, echo, 64, &echoed, &reserved) < 0)
        return -1;
    sample_add(&goals[G1].sample, reserved.rate / echoed.rate);
    sample_add(&goals[G4].sample, reserved.commits);
    sample_add(&goals[G5].sample, reserved.cpu_us / echoed.cpu_us);
    sample_add(&figures[ECHO_64].sample, echoed.rate);
    sample_add(&figures[RESERVE_64].sample, reserved.rate);
    sample_add(&figures[ECHO_CPU].sample, echoed.cpu_us);
    sample_add(&figures[RESERVE_CPU].sample, reserved.cpu_us);
    sample_add(&figures[RESERVE_P99].sample, reserved.p99_us);

    if (compare(options, echo, 16, &echoed, &reserved) < 0)
        return -1;
    sample_add(&goals[G2].sample, reserved.rate / echoed.rate);
    sample_add(&figures[ECHO_16].sample, echoed.rate);
    sample_add(&figures[RESERVE_16].sample, reserved.rate);

    const int64_t commit_ns = commits_median_ns(echo->folder, serial);
    if (commit_ns < 0 || reserve_turn(options, 1, serial, &reserved) < 0)
        return -1;
    const double commit_us = (double)commit_ns / 1e3;
    sample_add(&goals[G3].sample, reserved.median_us / commit_us);
    sample_add(&figures[COMMIT_LATENCY].sample, commit_us);
    sample_add(&figures[RESERVE_LATENCY].sample, reserved.median_us);
    return 0;
}

static bool gave_all_back(void *arg)
{
    struct plainhttp_reply reply;

    plainhttp_call(stage_http(arg), "GET", "/v1/status", NULL, &reply);
    const json_t *reserved = json_object_get(json_object_get(reply.json, "addresses"), "reserved");
    const bool all = json_is_integer(reserved) && json_integer_value(reserved) == 0;
    plainhttp_reply_release(&reply);
    return all;
}

/* What mock-fm has seen; it does not count what is asked of its controls. */
static int fm_totals(struct stage *stage, double *requests, double *connections)
{
    struct plainhttp_reply reply;

    plainhttp_call(stage_fm_http(stage), "GET", "/mock/log", NULL, &reply);
    const json_t *seen = json_object_get(reply.json, "requests");
    const json_t *over = json_object_get(reply.json, "connections");
    const int result = json_is_integer(seen) && json_is_integer(over) ? 0 : -1;
    *requests = json_number_value(seen);
    *connections = json_number_value(over);
    plainhttp_reply_release(&reply);
    if (result < 0)
        fprintf(stderr, "GET /mock/log has no totals\n");
    return result;
}

/* Starts and ends in batches, so that no more jobs live at once than there are addresses for. */
static int whole_jobs(struct stage *stage, size_t jobs)
{
    struct load load = {.socket = stage_socket(stage), .connections = 32};
    struct load_result result;
    double requests[2], connections[2], seconds = 0;

    if (fm_totals(stage, &requests[0], &connections[0]) < 0 || stage_start_broker(stage) < 0 ||
        stage_await_link(stage) < 0)
        return -1;
    const int64_t began = await_now_ns();
    load.count = JOBS_AT_ONCE;
    for (size_t done = 0; done < jobs; done += load.count) {
        load.make = make_eligible;
        load.expected = 201;
        if (load_run(&load, &result) < 0)
            return -1;
        load.make = make_release;
        load.expected = 202;
        if (load_run(&load, &result) < 0)
            return -1;
        if (!await(gave_all_back, stage, AWAIT_DEADLINE_MS)) {
            fprintf(stderr, "addresses of released jobs are not given back\n");
            return -1;
        }
    }
    seconds = (double)(await_now_ns() - began) / 1e9;
    if (fm_totals(stage, &requests[1], &connections[1]) < 0)
        return -1;
    sample_add(&goals[G8].sample, connections[1] - connections[0]);
    sample_add(&figures[JOBS_RATE].sample, (double)jobs / seconds);
    sample_add(&figures[FM_CALLS].sample, (requests[1] - requests[0]) / (double)jobs);
    return stage_stop_broker(stage);
}

static int measure_connections(const struct goals_options *options)
{
    const struct stage_options stage_options = {.mcastd = options->mcastd,
                                                .mock_fm = options->mock_fm,
                                                .fm = "parallel = " TEXT_OF(FM_PARALLEL) "\n",
                                                .hwcoll = "min_nodes = 64\n"
                                                          "total_addresses = 4086\n"
                                                          "system_nodes = 11136\n"};
    struct stage *stage = stage_create(&stage_options);
    const int result = stage && stage_start_fm(stage) == 0 ? whole_jobs(stage, options->jobs) : -1;

    stage_destroy(stage);
    return result;
}

static double greater(double a, double b)
{
    return a > b ? a : b;
}

/* Of the two waves the worse one counts. */
static int measure_reports(const struct goals_options *options)
{
    const struct storm_options storm_options = {.mcastd = options->mcastd, .nodes = options->nodes};
    const double nodes = (double)options->nodes;
    struct storm storm;

    if (storm_measure(&storm_options, &storm) < 0)
        return -1;
    const struct storm_wave *created = &storm.created, *destroyed = &storm.destroyed;
    const double seconds = greater(created->seconds, destroyed->seconds);
    const double commits = greater(created->commits, destroyed->commits);
    sample_add(&goals[G13].sample, nodes / seconds);
    sample_add(&goals[G14].sample, commits / nodes);
    sample_add(&figures[REPORTS_CREATED].sample, nodes / created->seconds);
    sample_add(&figures[REPORTS_DESTROYED].sample, nodes / destroyed->seconds);
    sample_add(&figures[REPORTS_CPU].sample, greater(created->cpu_us, destroyed->cpu_us));
    sample_add(&figures[REPORTS_LAST].sample, seconds * 1e3);
    sample_add(&figures[REPORTS_COMMITS].sample, commits);
    sample_add(&figures[REPORTS_RESERVE].sample,
               greater(created->reserve_median_us, destroyed->reserve_median_us));
    sample_add(&figures[REPORTS_RESERVE_P99].sample,
               greater(created->reserve_p99_us, destroyed->reserve_p99_us));
    sample_add(&figures[REPORT_MEMORY].sample, storm.memory_bytes);
    sample_add(&figures[REPORT_LEDGER].sample, storm.ledger_bytes);
    return 0;
}

/* First a steady stream, which tells what a handshake costs; then all at once. */
static int measure_arrivals(const struct goals_options *options)
{
    struct arrival_options arrivals = {.mcastd = options->mcastd,
                                       .nodes = options->nodes / 8,
                                       .at_once = 32,
                                       .connections_max = options->connections_max};
    struct arrival stream, crowd;

    if (arrival_measure(&arrivals, &stream) < 0)
        return -1;
    sample_add(&figures[ARRIVALS].sample, (double)arrivals.nodes / stream.seconds);
    sample_add(&figures[ARRIVAL_CPU].sample, stream.cpu_us);
    arrivals.nodes = arrivals.at_once = options->arrivals;
    if (arrival_measure(&arrivals, &crowd) < 0)
        return -1;
    sample_add(&goals[G15].sample, (double)(crowd.closed + crowd.refused));
    sample_add(&figures[ARRIVALS_LAST].sample, crowd.seconds * 1e3);
    sample_add(&figures[ARRIVALS_AGAIN].sample, (double)crowd.given_up);
    return 0;
}

static bool echo_serves(void *arg)
{
    struct echo *echo = arg;
    struct plainhttp *http = plainhttp_create("http://echo", echo->socket);
    const bool serves = !process_alive(echo->process) || (http && plainhttp_probe(http, "/") != 0);

    plainhttp_destroy(http);
    return serves;
}

static int start_echo(struct echo *echo, const char *program)
{
    const char *argv[] = {program, echo->socket, NULL};
    char log[PATH_SIZE];

    folder_path(echo->socket, sizeof echo->socket, echo->folder, "echo.sock");
    echo->process = process_start(argv, folder_path(log, sizeof log, echo->folder, "echo.log"));
    if (!echo->process)
        return -1;
    if (await(echo_serves, echo, AWAIT_DEADLINE_MS) && process_alive(echo->process))
        return 0;
    fprintf(stderr, "bench-echo does not serve\n");
    process_print_log(echo->process);
    return -1;
}

bool goals_part(const char *word, enum goals_part *part)
{
    static const char *const words[] = {
        [GOALS_RESERVES] = "reserves", [GOALS_JOBS] = "jobs", [GOALS_REPORTS] = "reports"};

    for (size_t i = GOALS_RESERVES; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i], word) == 0) {
            *part = (enum goals_part)i;
            return true;
        }
    }
    return false;
}

static bool wanted(const struct goals_options *options, enum goals_part part)
{
    return options->only == GOALS_ALL || options->only == part;
}

static int measure_reserves(const struct goals_options *options)
{
    struct echo echo = {.process = NULL};
    int result = folder_create(echo.folder);

    if (result < 0)
        return -1;
    result = start_echo(&echo, options->echo);
    for (size_t i = 0; result == 0 && i < options->repetitions; i++) {
        printf("G1–G5, repetition %zu of %zu\n", i + 1, options->repetitions);
        fflush(stdout);
        result = repeat(options, &echo);
    }
    process_kill(echo.process);
    folder_destroy(echo.folder);
    return result;
}

const struct report *goals_measure(const struct goals_options *options)
{
    int result = 0;

    if (wanted(options, GOALS_RESERVES))
        result = measure_reserves(options);
    if (result == 0 && wanted(options, GOALS_JOBS)) {
        printf("G8, %zu jobs from start to end\n", options->jobs);
        fflush(stdout);
        result = measure_connections(options);
    }
    for (size_t i = 0; result == 0 && wanted(options, GOALS_REPORTS) && i < options->repetitions;
         i++) {
        printf("G13–G14, %zu nodes report, repetition %zu of %zu\n", options->nodes, i + 1,
               options->repetitions);
        fflush(stdout);
        result = measure_reports(options);
    }
    if (result == 0 && wanted(options, GOALS_REPORTS)) {
        printf("G15, %zu nodes come at once\n", options->arrivals);
        fflush(stdout);
        result = measure_arrivals(options);
    }
    report.repetitions = options->repetitions;
    return result == 0 ? &report : NULL;
}

/* No sample: it was not asked for. */
static bool count_met(enum goal goal)
{
    return goals[goal].sample.count == 0 || report_met(&goals[goal]);
}

bool goals_counts_met(void)
{
    return count_met(G8) && count_met(G14) && count_met(G15);
}
