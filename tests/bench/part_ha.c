/* SPDX-License-Identifier: Apache-2.0 */
#include "client/mcast.h"
#include "tests/bench/etcdwriter.h"
#include "tests/bench/metric.h"
#include "tests/bench/parts.h"
#include "tests/bench/request.h"
#include "tests/bench/turn.h"
#include "tests/system/ha/brokers.h"
#include "tests/system/http/testcert.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/testbed.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

/* Two brokers on three members of etcd, all on this host (B7): how long clients wait for the next
 * leader, and what a reserve costs beside a transaction of etcd. With mutual TLS to etcd, as the
 * documentation sets it up; the same without TLS gives figures only. */

enum {
    WARM_UP_FIRST = 1 << 30,
    SERIAL_FIRST = 1 << 29, /* jobs of one connection */
    CHANGES = 4, /* of each kind a repetition; the last kill with a job that has addresses */
    RATES = 3,   /* turns a repetition */
    RETRY_MS = 60000,
    KEEPALIVE_MS = 500, /* of a lease of 2 s: a quarter */
    JOB_SIZE = 32,
    LINES_SIZE = 1024,
};

static const struct report_goal g16 = {.id = "G16",
                                       .what = "a client's wait after kill -9 of the leader, s",
                                       .sense = REPORT_AT_MOST,
                                       .limit = 2.5};
static const struct report_goal g16_worst = {
    .id = "G16w", .what = "the longest of them, s", .sense = REPORT_NEVER_ABOVE, .limit = 4};
static const struct report_goal g17 = {.id = "G17",
                                       .what = "a client's wait when the leader steps down, s",
                                       .sense = REPORT_AT_MOST,
                                       .limit = 0.6};
static const struct report_goal g18 = {.id = "G18",
                                       .what = "durable reserves / of a bare writer to etcd, 64 c.",
                                       .sense = REPORT_AT_LEAST,
                                       .limit = 0.6};
static const struct report_goal g19 = {.id = "G19",
                                       .what = "time of a reserve / of a bare transaction",
                                       .sense = REPORT_AT_MOST,
                                       .limit = 1.6};
static const struct report_goal c15 = {.id = "C15",
                                       .what = "reserves that the next leader lacks (count)",
                                       .sense = REPORT_NEVER_ABOVE,
                                       .limit = 0,
                                       .is_count = true};

struct stage {
    const struct bench *bench;
    const char *certificates; /* NULL: no TLS */
    const char *lease;
    struct testbed *fm;
    struct etcdcluster *cluster;
    struct brokers brokers;
    char lines[LINES_SIZE];
    struct mcast *handle;
    size_t jobs;       /* that were reserved and are there */
    size_t value_size; /* of a record, on average: a reserve writes a reservation and its event */
};

/* ---- the stage ---- */

static int open_stage(struct stage *stage)
{
    /* deploy/etcd/etcd.env */
    static const char *const args[] = {"--pre-vote", "--snapshot-count",
                                       "5000",       "--auto-compaction-mode",
                                       "periodic",   "--auto-compaction-retention",
                                       "5m",         NULL};
    const struct etcdcluster_options options = {
        .members = 3, .certificates = stage->certificates, .quota_bytes = 4LL << 30, .args = args};
    const char *files = stage->certificates;
    char tls[3 * FOLDER_PATH_SIZE + 96] = "", list[300];

    stage->fm = testbed_create(
        &(struct testbed_options){.mcastd = stage->bench->mcastd, .mock_fm = stage->bench->fm});
    if (!stage->fm || testbed_start_fm(stage->fm) < 0 ||
        !(stage->cluster = etcdcluster_create(&options)))
        return -1;
    if (files)
        snprintf(tls, sizeof tls, "ca = %s/ca.pem\ncert = %s/client.pem\nkey = %s/client.key\n",
                 files, files, files);
    snprintf(
        stage->lines, sizeof stage->lines,
        "%s[fm]\nurl = %s\nauth = basic\nauthdir = %s\n[inventory]\nsource = off\n[hwcoll]\n%s",
        tls, testbed_fm_url(stage->fm), testbed_folder(stage->fm), request_hwcoll);
    brokers_open(&stage->brokers, stage->cluster);
    stage->brokers.lines = stage->lines;
    stage->brokers.lease = stage->lease;
    brokers_start_all(&stage->brokers, 2);
    snprintf(list, sizeof list, "%s, %s", stage->brokers.socket[0], stage->brokers.socket[1]);
    return mcast_open(&stage->handle, list, NULL) == 0 &&
                   mcast_set_retry_timeout(stage->handle, RETRY_MS, NULL, NULL, NULL) == 0
               ? 0
               : -1;
}

static void close_stage(struct stage *stage)
{
    mcast_close(stage->handle);
    if (stage->cluster)
        brokers_close(&stage->brokers);
    etcdcluster_destroy(stage->cluster);
    testbed_destroy(stage->fm);
}

static struct load load_of(const struct stage *stage, unsigned leader)
{
    return (struct load){.socket = stage->brokers.socket[leader] + strlen("unix:"),
                         .connections = 64,
                         .make = request_reserve,
                         .expected = 201};
}

/* ---- the next leader ---- */

/* By a client that waits; the nodes decide whether the job is to have addresses. */
static int reserve(struct stage *stage, const char *nodes)
{
    struct mcast_request request = MCAST_REQUEST_INIT;
    struct mcast_reservation *reservation = NULL;
    struct mcast_error error;
    char job[JOB_SIZE];

    snprintf(job, sizeof job, "wait%zu", stage->jobs);
    request.cluster = "elcap";
    request.job = job;
    request.uid = 1000;
    request.nodes = nodes;
    if (mcast_reserve(stage->handle, &request, &reservation, &error) < 0) {
        fprintf(stderr, "%s: %s\n", job, error.text);
        return -1;
    }
    mcast_reservation_free(reservation);
    stage->jobs++;
    return 0;
}

static int count(const struct mcast_reservation *reservation, void *data)
{
    (*(size_t *)data)++;
    return 0;
}

/* How long it is, from then on, until a job is reserved, s; -1 with a word on stderr. */
static double wait_since(struct stage *stage, int64_t began_ns, const char *nodes)
{
    if (reserve(stage, nodes) < 0)
        return -1;
    return (double)(await_now_ns() - began_ns) / 1e9;
}

/* The one that leads ends by itself, or else is killed. It is a standby when this returns. */
static double change_leader(struct stage *stage, bool kill, const char *nodes)
{
    struct brokers *brokers = &stage->brokers;
    const unsigned leader = brokers_await_leader(brokers);
    struct mcast_error error;

    brokers_await_log(brokers, 1 - leader, ".sock leads", 1);
    brokers_await_role(brokers, 1 - leader, "standby");
    if (reserve(stage, "elcap[1-16]") < 0)
        return -1;
    poll(NULL, 0, (int)(stage->jobs * 161 % KEEPALIVE_MS)); /* since a keepalive: any time */
    const int64_t began_ns = await_now_ns();
    if (kill) {
        brokers_kill(brokers, leader);
    } else if (mcast_step_down_forced(stage->handle, &error) < 0) {
        fprintf(stderr, "step-down: %s\n", error.text);
        return -1;
    }
    const double seconds = wait_since(stage, began_ns, nodes);
    if (!kill)
        brokers_await_exit(brokers, leader);
    brokers_start(brokers, leader);
    return seconds;
}

static int kill_leader(struct stage *stage, bool eligible)
{
    struct report *report = stage->bench->report;
    const double seconds = change_leader(stage, true, eligible ? "elcap[1-128]" : "elcap[1-16]");

    if (seconds < 0)
        return -1;
    printf("  killed: %.2f s\n", seconds);
    fflush(stdout);
    if (eligible) {
        report_figure(report, "the same of a job that has addresses", "s", seconds);
        return 0;
    }
    report_goal(report, &g16, seconds);
    report_goal(report, &g16_worst, seconds);
    return 0;
}

static int step_down(struct stage *stage)
{
    const double seconds = change_leader(stage, false, "elcap[1-16]");

    if (seconds < 0)
        return -1;
    printf("  stepped down: %.2f s\n", seconds);
    fflush(stdout);
    report_goal(stage->bench->report, &g17, seconds);
    return 0;
}

static int measure_changes(struct stage *stage)
{
    const bool quick = stage->bench->report->counts_only;
    struct load load = load_of(stage, brokers_await_leader(&stage->brokers));
    struct load_result result;
    size_t listed = 0;

    load.first = WARM_UP_FIRST;
    load.count = stage->bench->followed;
    if (load_run(&load, &result) < 0)
        return -1;
    stage->jobs = load.count;
    /* In turn: one that leads because a lease ended keeps its own, while it is young, in step with
     * etcd's looks for such, and would always die when the next look is far. */
    for (unsigned i = 0; i < (quick ? 1 : CHANGES); i++)
        if (step_down(stage) < 0 || kill_leader(stage, i == CHANGES - 1) < 0)
            return -1;
    if (mcast_list(stage->handle, NULL, count, &listed, NULL) < 0)
        return -1;
    report_goal(stage->bench->report, &c15, (double)stage->jobs - (double)listed);
    return 0;
}

/* ---- beside etcd ---- */

struct written {
    double commits, records, etcd_us;
};

static int written_until_now(struct stage *stage, unsigned leader, struct written *out)
{
    struct plainhttp *http = stage->brokers.clients[leader];

    out->commits = metric_ask(http, "mcastd_commits_total");
    out->records = metric_ask(http, "mcastd_commit_records_sum");
    out->etcd_us = 0;
    for (unsigned i = 0; i < etcdcluster_members(stage->cluster); i++)
        out->etcd_us += (double)process_cpu_ns(etcdcluster_process(stage->cluster, i)) / 1e3;
    return out->commits < 0 || out->records < 0 ? -1 : 0;
}

static int note_value_size(struct stage *stage)
{
    char *reservation =
        etcdcluster_get(stage->cluster, "/mcastd/test/reservation/0000000000000001");
    char *event = etcdcluster_get(stage->cluster, "/mcastd/test/event/0000000000000001");
    const bool there = reservation && event;

    if (there)
        stage->value_size = (strlen(reservation) + strlen(event)) / 2;
    else
        fprintf(stderr, "etcd lacks the first reservation, or its event\n");
    free(reservation);
    free(event);
    return there ? 0 : -1;
}

struct rate {
    struct turn turn;
    double batch; /* reserves a commit */
    double etcd_us;
    struct etcdwriter_result bare;
};

/* So many reserves, and a writer that writes as much in as many transactions. */
static int measure_rate(struct stage *stage, unsigned connections, size_t first, size_t count,
                        struct rate *out)
{
    const unsigned leader = brokers_await_leader(&stage->brokers);
    struct load load = load_of(stage, leader);
    struct written before, after;

    load.connections = connections;
    load.first = first;
    load.count = count;
    if (written_until_now(stage, leader, &before) < 0 ||
        turn_measure(stage->brokers.processes[leader], &load, &out->turn) < 0 ||
        written_until_now(stage, leader, &after) < 0)
        return -1;
    const double commits = after.commits - before.commits;
    out->batch = (double)count / commits;
    out->etcd_us = (after.etcd_us - before.etcd_us) / (double)count;
    const struct etcdwriter_options options = {
        .certificates = stage->certificates,
        .puts = (size_t)((after.records - before.records) / commits + 0.5) + 1, /* the counters */
        .value_size = stage->value_size,
        .count = (size_t)commits};
    return etcdwriter_run(stage->cluster, &options, &out->bare);
}

static void tell_64(struct report *report, const struct rate *rate, bool tls)
{
    const double bare = rate->bare.rate * rate->batch;

    if (tls) {
        report_goal(report, &g18, rate->turn.rate / bare);
        report_figure(report, "reserve on etcd, 64 connections", "/s", rate->turn.rate);
        report_figure(report, "of a bare writer, as many a transaction", "/s", bare);
        report_figure(report, "reserves a transaction", "", rate->batch);
        report_figure(report, "CPU of a reserve on etcd, the broker", "µs", rate->turn.cpu_us);
        report_figure(report, "the same, three members of etcd", "µs", rate->etcd_us);
        report_figure(report, "CPU of the bare writer for one", "µs",
                      rate->bare.cpu_us / rate->batch);
        return;
    }
    report_figure(report, "without TLS, reserve, 64 connections", "/s", rate->turn.rate);
    report_figure(report, "without TLS, of a bare writer", "/s", bare);
}

static void tell_1(struct report *report, const struct rate *rate, bool tls)
{
    if (tls) {
        report_goal(report, &g19, rate->turn.median_us / rate->bare.median_us);
        report_figure(report, "reserve on etcd, 1 connection", "µs", rate->turn.median_us);
        report_figure(report, "bare transaction of one reserve", "µs", rate->bare.median_us);
        report_figure(report, "CPU of such a reserve, the broker", "µs", rate->turn.cpu_us);
        report_figure(report, "the same, three members of etcd, one alone", "µs", rate->etcd_us);
        return;
    }
    report_figure(report, "without TLS, reserve, 1 connection", "µs", rate->turn.median_us);
    report_figure(report, "without TLS, bare transaction", "µs", rate->bare.median_us);
}

static int measure_rates(struct stage *stage)
{
    const struct bench *bench = stage->bench;
    const unsigned turns = bench->report->counts_only ? 1 : RATES;
    const size_t many = bench->requests / 5, few = bench->requests / 50;
    struct load load = load_of(stage, brokers_await_leader(&stage->brokers));
    struct load_result warmed;
    struct rate rate;

    load.first = WARM_UP_FIRST;
    load.count = bench->warm_up / 4;
    if (load_run(&load, &warmed) < 0 || note_value_size(stage) < 0)
        return -1;
    for (unsigned i = 0; i < turns; i++) {
        if (measure_rate(stage, 64, i * many, many, &rate) < 0)
            return -1;
        tell_64(bench->report, &rate, stage->certificates);
        if (measure_rate(stage, 1, SERIAL_FIRST + i * few, few, &rate) < 0)
            return -1;
        tell_1(bench->report, &rate, stage->certificates);
    }
    return 0;
}

/* ---- both ---- */

/* While requests are counted, no lease may end because the machine is busy. */
static int on_stage(const struct bench *bench, const char *certificates, const char *lease,
                    int (*measure)(struct stage *stage))
{
    struct stage stage = {.bench = bench, .certificates = certificates, .lease = lease};
    const int result = open_stage(&stage) == 0 ? measure(&stage) : -1;

    close_stage(&stage);
    return result;
}

int part_ha(const struct bench *bench)
{
    const bool quick = bench->report->counts_only;
    char certificates[FOLDER_PATH_SIZE];
    int result = 0;

    if (!etcdcluster_possible()) {
        report_skipped(bench->report, "G16–G19, C15 (several brokers)", "etcd is not installed");
        return 0;
    }
    if (folder_create(certificates) < 0)
        return -1;
    authority_equip(certificates);
    for (size_t i = 0; result == 0 && i < bench->repetitions; i++) {
        printf("G16–G19, repetition %zu of %zu\n", i + 1, bench->repetitions);
        fflush(stdout);
        result = on_stage(bench, certificates, quick ? "5s" : "2s", measure_changes);
        if (result == 0 && !quick)
            result = on_stage(bench, certificates, "10s", measure_rates) < 0 ||
                             on_stage(bench, NULL, "10s", measure_rates) < 0
                         ? -1
                         : 0;
    }
    folder_destroy(certificates);
    return result;
}
