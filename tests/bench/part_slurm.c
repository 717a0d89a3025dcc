/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/stall.h"
#include "tests/bench/parts.h"
#include "tests/bench/request.h"
#include "tests/bench/slurmway.h"
#include "tests/bench/wholejobs.h"
#include "tests/bench/wrapper.h"
#include "tests/system/http/testcert.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <stdio.h>
#include <string.h>

/* A repetition has a share of all jobs, and as many that come alone as go the plugin's way. Lots
 * are large, and the fabric has addresses for them: nobody waits for anybody in the middle. */
enum { SHARE = 5, LOT = 1000, TEXT_SIZE = 128 };

static const struct report_goal g9 = {.id = "G9",
                                      .what = "jobs a second over TLS / the Slurm plugin's way",
                                      .sense = REPORT_AT_LEAST,
                                      .limit = 20};
/* Where it is missed, G9 measures the double. */
static const struct report_goal g9_room = {.id = "G9m",
                                           .what = "what bench-fm could take / is asked (for G9)",
                                           .sense = REPORT_AT_LEAST,
                                           .limit = 3};

static const struct report_goal g27 = {.id = "G27",
                                       .what = "a lone job a second over TLS / the plugin's way",
                                       .sense = REPORT_AT_LEAST,
                                       .limit = 5};

struct duel {
    const struct bench *bench;
    struct testbed *testbed;
    const char *wrappers; /* folder */
    struct slurmway way;
    size_t done; /* jobs through the broker */
};

static int through_broker(struct duel *duel, size_t count, unsigned connections, double *rate)
{
    const struct wholejobs jobs = {.testbed = duel->testbed,
                                   .first = duel->done,
                                   .count = count,
                                   .lot = LOT,
                                   .connections = connections};
    double seconds;

    if (wholejobs_run(&jobs, &seconds) < 0)
        return -1;
    duel->done += count;
    *rate = (double)count / seconds;
    return 0;
}

static void make_lone(size_t index, struct load_request *out)
{
    (index % 2 == 0 ? request_eligible : request_release)(index / 2, out);
}

/* A job starts and ends before the next, until the last is given back. */
static int one_by_one(struct duel *duel, size_t count, double *rate)
{
    const struct load load = {.socket = testbed_socket(duel->testbed),
                              .connections = 1,
                              .first = 2 * duel->done,
                              .count = 2 * count,
                              .make = make_lone};
    struct load_result result;
    const int64_t began = await_now_ns();

    if (load_run(&load, &result) < 0 || wholejobs_await_end(duel->testbed) < 0)
        return -1;
    duel->done += count;
    *rate = (double)count * 1e9 / (double)(await_now_ns() - began);
    return 0;
}

/* bench-fm is one thread: the share of the time that it computed is how near it is to its end. */
static int with_room(struct duel *duel, double *rate, double *room)
{
    const size_t count = duel->bench->jobs / SHARE;
    const struct process *broker = testbed_broker(duel->testbed);
    const long long before = wrapper_cpu_ns(duel->wrappers, "bench-fm");
    const long long broker_before = process_cpu_ns(broker);

    if (before < 0 || through_broker(duel, count, 32, rate) < 0)
        return -1;
    const long long after = wrapper_cpu_ns(duel->wrappers, "bench-fm");
    *room = (double)count / *rate * 1e9 / (double)(after - before);
    report_figure(duel->bench->report, "CPU of bench-fm, a job of the broker's", "µs",
                  (double)(after - before) / 1e3 / (double)count);
    report_figure(duel->bench->report, "CPU of a job, through the broker", "µs",
                  (double)(process_cpu_ns(broker) - broker_before) / 1e3 / (double)count);
    return after < 0 ? -1 : 0;
}

static int repeat(struct duel *duel)
{
    struct report *report = duel->bench->report;
    double slurm_seconds, slurm_cpu_us, rate, alone, room;

    if (slurmway_run(&duel->way, &slurm_seconds, &slurm_cpu_us) < 0 ||
        with_room(duel, &rate, &room) < 0 || one_by_one(duel, duel->way.jobs, &alone) < 0)
        return -1;
    const double slurm_rate = (double)duel->way.jobs / slurm_seconds;
    report_goal(report, &g9, rate / slurm_rate);
    report_goal(report, &g9_room, room);
    report_figure(report, "jobs over TLS, the Slurm plugin's way", "/s", slurm_rate);
    report_figure(report, "CPU of a job, the Slurm plugin's way", "µs", slurm_cpu_us);
    report_figure(report, "jobs over TLS, through the broker, 32 connections", "/s", rate);
    report_goal(report, &g27, alone / slurm_rate);
    report_figure(report, "a lone job over TLS, through the broker", "µs", 1e6 / alone);
    report_figure(report, "a lone job over TLS, the Slurm plugin's way", "µs", 1e6 / slurm_rate);
    if (room < g9_room.limit)
        printf("bench-fm computes %.0f %% of the time: G9 is less than it could be\n", 100 / room);
    return 0;
}

static int start(struct duel *duel, char *url, char *password)
{
    char path[TEXT_SIZE];
    int port = 0;

    if (testbed_start_fm(duel->testbed) < 0 || testbed_start_broker(duel->testbed) < 0 ||
        testbed_await_link(duel->testbed) < 0)
        return -1;
    FILE *file = fopen(folder_path(path, sizeof path, testbed_folder(duel->testbed), "port"), "re");
    const int ports = file ? fscanf(file, "%d", &port) : 0;
    if (file)
        fclose(file);
    file = fopen(folder_path(path, sizeof path, testbed_folder(duel->testbed), "passwd"), "re");
    const int passwords = file ? fscanf(file, "%127s", password) : 0;
    if (file)
        fclose(file);
    snprintf(url, TEXT_SIZE, "https://127.0.0.1:%d", port);
    return ports == 1 && passwords == 1 ? 0 : -1;
}

static int measure(struct duel *duel)
{
    char url[TEXT_SIZE], password[TEXT_SIZE];
    const size_t repetitions = duel->bench->repetitions;
    int result = start(duel, url, password);

    duel->way =
        (struct slurmway){.url = url, .password = password, .jobs = duel->bench->slurm_jobs};
    for (size_t i = 0; result == 0 && i < repetitions; i++) {
        printf("G9, the Slurm plugin's way and ours, repetition %zu of %zu\n", i + 1, repetitions);
        fflush(stdout);
        result = repeat(duel);
    }
    if (result < 0 ||
        absence_note(duel->bench->report, duel->testbed, "loop away, whole jobs over TLS") < 0)
        return -1;
    return testbed_stop_broker(duel->testbed);
}

int part_slurm(const struct bench *bench)
{
    static const char *const mock_args[] = {"--addresses", "8192", "--overcommit", NULL};
    const struct testcert testcert = {.common = "fabric", .purpose = GNUTLS_KP_TLS_WWW_SERVER};
    char folder[FOLDER_PATH_SIZE], cert[TEXT_SIZE], key[TEXT_SIZE], mock_fm[WRAPPER_PATH_SIZE];
    const struct testbed_options options = {.mcastd = bench->mcastd,
                                            .mock_fm = mock_fm,
                                            .fm_cert = cert,
                                            .fm_key = key,
                                            .mock_args = mock_args,
                                            .fm = "reserve_timeout = 1m\n",
                                            .vni = "hold = 0s\n",
                                            .hwcoll = "min_nodes = 64\ntotal_addresses = 65536\n"
                                                      "addresses_per_job = 23\n"
                                                      "system_nodes = 11136\n"};
    struct duel duel = {.bench = bench, .wrappers = folder};
    struct authority authority;
    int result = -1;

    if (folder_create(folder) < 0)
        return -1;
    authority_init(&authority, "authority");
    authority_write(&authority, &testcert, folder, "fm");
    folder_path(cert, sizeof cert, folder, "fm.pem");
    folder_path(key, sizeof key, folder, "fm.key");
    if (wrapper_write(mock_fm, folder, "bench-fm", "", bench->fm) == 0 &&
        (duel.testbed = testbed_create(&options)))
        result = measure(&duel);
    testbed_destroy(duel.testbed);
    authority_release(&authority);
    folder_destroy(folder);
    return result;
}
