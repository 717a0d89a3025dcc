/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/metric.h"
#include "tests/bench/parts.h"
#include "tests/bench/request.h"
#include "tests/system/http/testmunged.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/boottime.h"
#include "tests/system/rig/folder.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Jobs with launch documents, by the programs that a site runs, on NICs of mock-cxi: what of it the
 * broker is asked (G20), and how long a node's prolog takes (G21). */

enum {
    SAMPLE = 4, /* nodes that run mcast-node: more than the requests that are allowed */
    TURNS = 6,  /* of each kind of prolog, a repetition */
    ARGUMENTS_MAX = 24,
    PATH_SIZE = 192,
    TEXT_SIZE = 1024
};

static const struct report_goal g20 = {.id = "G20",
                                       .what = "requests until a job's first process (count)",
                                       .sense = REPORT_NEVER_ABOVE,
                                       .limit = 3,
                                       .is_count = true};
static const struct report_goal g20_flux = {.id = "G20f",
                                            .what = "start to end, reported at once (count)",
                                            .sense = REPORT_NEVER_ABOVE,
                                            .limit = 6,
                                            .is_count = true};
static const struct report_goal g20_slurm = {.id = "G20s",
                                             .what = "the same beside one report a node (count)",
                                             .sense = REPORT_NEVER_ABOVE,
                                             .limit = 3,
                                             .is_count = true};
static const struct report_goal g21 = {.id = "G21",
                                       .what = "prolog with a document / that asks the broker",
                                       .sense = REPORT_AT_MOST,
                                       .limit = 1.5};
static const struct report_goal g21_file = {.id = "G21f",
                                            .what = "the same / with a reservation in a file",
                                            .sense = REPORT_AT_MOST,
                                            .limit = 1.5};
static const struct report_goal g21_network = {.id = "G21n",
                                               .what = "connections of such prologs (count)",
                                               .sense = REPORT_NEVER_ABOVE,
                                               .limit = 0,
                                               .is_count = true};

struct launching {
    const struct bench *bench;
    struct testbed *testbed;
    char folder[FOLDER_PATH_SIZE];
    size_t jobs; /* so far: each has its own id */
};

/* ---- programs ---- */

/* As the files of this node, elcap1 and so on, and no other's. */
static int be_node(const struct launching *launching, size_t node)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "%s/n%zu", launching->folder, node);
    if (access(path, F_OK) < 0 &&
        (mkdir(path, 0755) < 0 ||
         folder_write(path, "cxi.conf", 0644, "[mock]\nprivileged = any\nnics = 4\n") < 0))
        return -1;
    setenv("MOCK_CXI", path, 1);
    strcat(path, "/spool");
    setenv("MCAST_NODE_SPOOL", path, 1);
    return 0;
}

/* Runs a program of ours, its arguments split at blanks; what it prints goes to folder/out. How
 * long that took, ms; or -1 with a word on stderr. */
__attribute__((format(printf, 3, 4))) static double run(const struct launching *launching,
                                                        const char *out, const char *command, ...)
{
    const char *argv[ARGUMENTS_MAX] = {0};
    char text[TEXT_SIZE], program[PATH_SIZE], path[PATH_SIZE];
    posix_spawn_file_actions_t files;
    size_t count = 0;
    pid_t child;
    int status = -1;
    va_list args;

    va_start(args, command);
    vsnprintf(text, sizeof text, command, args);
    va_end(args);
    for (char *rest = text, *word; count < ARGUMENTS_MAX - 1 && (word = strsep(&rest, " "));)
        argv[count++] = word;
    snprintf(program, sizeof program, "%s/%s", launching->bench->programs, argv[0]);
    folder_path(path, sizeof path, launching->folder, out);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int64_t began = await_now_ns();
    if (posix_spawn(&child, program, &files, NULL, (char *const *)argv, environ) == 0)
        waitpid(child, &status, 0);
    const double ms = (double)(await_now_ns() - began) / 1e6;
    posix_spawn_file_actions_destroy(&files);
    if (status == 0)
        return ms;
    fprintf(stderr, "%s %s … ended with the status %d\n", argv[0], argv[1], status);
    return -1;
}

/* ---- requests for a job ---- */

/* All but those for the metrics themselves. */
static double requests(const struct launching *launching)
{
    return metric_sum(launching->testbed, "mcastd_http_requests_total", "/metrics");
}

static int prologs_and_env(const struct launching *launching, const char *nodes)
{
    for (size_t node = 1; node <= SAMPLE; node++)
        for (int i = 0; i < 2; i++)
            if (be_node(launching, node) < 0 ||
                run(launching, "env.token",
                    "mcast-node %s --config %s/node.conf --node elcap%zu --job reported --launch "
                    "%s/launch.token --restart 0 --user 5588 --nodes %s",
                    i == 0 ? "prolog" : "env", launching->folder, node, launching->folder,
                    nodes) < 0)
                return -1;
    return 0;
}

static int epilogs(const struct launching *launching, const char *options)
{
    for (size_t node = 1; node <= SAMPLE; node++)
        if (be_node(launching, node) < 0 ||
            run(launching, "out",
                "mcast-node epilog --config %s/node.conf --node elcap%zu --job reported%s",
                launching->folder, node, options) < 0)
            return -1;
    return 0;
}

static int64_t read_number(const struct launching *launching)
{
    char path[PATH_SIZE];
    json_t *job =
        json_load_file(folder_path(path, sizeof path, launching->folder, "show.token"), 0, NULL);
    const int64_t number = json_integer_value(json_object_get(job, "number"));

    json_decref(job);
    return number;
}

/* One who sums asks for the number; else each node reports itself, those that are not in the sample
 * over kept connections. */
static int end_job(const struct launching *launching, bool summed, const char *nodes)
{
    const size_t count = launching->bench->nodes;

    if (run(launching, "show.token", "mcastctl show --json reported") < 0 ||
        run(launching, "out", "mcastctl release reported") < 0 ||
        epilogs(launching, summed ? " --reporter /bin/true" : "") < 0)
        return -1;
    if (summed)
        return run(launching, "out", "mcastctl nodes-clean --number %lld reported %s",
                   (long long)read_number(launching), nodes) < 0
                   ? -1
                   : 0;
    request_set_reported((uint64_t)read_number(launching));
    const struct load load = {.socket = testbed_socket(launching->testbed),
                              .connections = 64,
                              .first = SAMPLE,
                              .count = count - SAMPLE,
                              .make = request_report,
                              .expected = 200};
    struct load_result result;
    return load_run(&load, &result);
}

static bool is_gone(void *arg)
{
    return plainhttp_probe(testbed_http(arg), "/v1/clusters/elcap/jobs/reported") == 404;
}

static int one_job(const struct launching *launching, bool summed)
{
    struct report *report = launching->bench->report;
    const double count = (double)launching->bench->nodes, before = requests(launching);
    char nodes[32];

    snprintf(nodes, sizeof nodes, "elcap[1-%zu]", launching->bench->nodes);
    if (before < 0 ||
        run(launching, "launch.token",
            "mcastctl reserve --anew --uid 5588 --nodes %s --launch --restart 0 reported",
            nodes) < 0 ||
        prologs_and_env(launching, nodes) < 0)
        return -1;
    report_goal(report, &g20, requests(launching) - before);
    if (end_job(launching, summed, nodes) < 0)
        return -1;
    const double all = requests(launching) - before;
    /* Nodes are told the number by their documents: the load generator asked for it. */
    report_goal(report, summed ? &g20_flux : &g20_slurm, summed ? all : all - count - 1);
    if (await(is_gone, launching->testbed, AWAIT_DEADLINE_MS))
        return 0;
    fprintf(stderr, "all nodes of the job have reported, and it still waits for something\n");
    return -1;
}

/* ---- prologs ---- */

enum way { WAY_LAUNCH, WAY_ASK, WAY_FILE, WAYS };

/* Of a job of its own: one that has ended on a node is not started there again. */
static double prolog(struct launching *launching, enum way way)
{
    static const char *const options[WAYS] = {" --launch %s/launch.token", "",
                                              " --reservation %s/show.token"};
    char job[32], given[PATH_SIZE];

    snprintf(job, sizeof job, "prolog%zu", launching->jobs++);
    snprintf(given, sizeof given, options[way], launching->folder);
    if (run(launching, "launch.token",
            "mcastctl reserve --uid 5588 --nodes elcap[1-128] --launch %s", job) < 0 ||
        run(launching, "show.token", "mcastctl show --json %s", job) < 0)
        return -1;
    const double before = metric_sum(launching->testbed, "mcastd_http_connections_total", NULL);
    const double ms =
        run(launching, "out", "mcast-node prolog --config %s/node.conf --node elcap1 --job %s%s",
            launching->folder, job, given);
    const double after = metric_sum(launching->testbed, "mcastd_http_connections_total", NULL);
    if (way == WAY_LAUNCH)
        report_goal(launching->bench->report, &g21_network, after - before);
    if (ms < 0 || before < 0 || (way == WAY_ASK && after == before) ||
        run(launching, "out", "mcast-node epilog --config %s/node.conf --node elcap1 --job %s",
            launching->folder, job) < 0 ||
        run(launching, "out", "mcastctl release %s", job) < 0)
        return -1;
    return ms;
}

static int repeat_prologs(struct launching *launching)
{
    static const char *const keys[WAYS] = {"prolog with a launch document",
                                           "prolog that asks the broker and tells it",
                                           "prolog with a reservation in a file, that tells it"};
    struct report *report = launching->bench->report;
    struct sample samples[WAYS] = {{.count = 0}};

    for (int i = 0; i < TURNS * WAYS; i++) {
        const double ms = prolog(launching, i % WAYS);

        if (ms < 0)
            return -1;
        sample_add(&samples[i % WAYS], ms);
        report_figure(report, keys[i % WAYS], "ms", ms);
    }
    const double launch = sample_median(&samples[WAY_LAUNCH]);
    report_goal(report, &g21, launch / sample_median(&samples[WAY_ASK]));
    report_goal(report, &g21_file, launch / sample_median(&samples[WAY_FILE]));
    return 0;
}

/* ---- all of it ---- */

static int measure(struct launching *launching, const struct testmunged *munged)
{
    char text[TEXT_SIZE];

    snprintf(text, sizeof text, "launch_user = %u\nmunge_socket = %s\n", (unsigned)geteuid(),
             testmunged_socket(munged));
    if (folder_write(launching->folder, "node.conf", 0644, text) < 0 || be_node(launching, 1) < 0 ||
        testbed_start_fm(launching->testbed) < 0 || testbed_start_broker(launching->testbed) < 0 ||
        testbed_await_link(launching->testbed) < 0)
        return -1;
    snprintf(text, sizeof text, "%s/../lib/mock-cxi", launching->bench->programs);
    setenv("LD_LIBRARY_PATH", text, 1);
    boottime_set(boottime_usual()); /* after a boot nodes do not trust documents for a while */
    snprintf(text, sizeof text, "unix:%s", testbed_socket(launching->testbed));
    setenv("MCAST_URL", text, 1);
    setenv("MCAST_CLUSTER", "elcap", 1);
    int result = one_job(launching, true) < 0 || one_job(launching, false) < 0 ? -1 : 0;
    for (size_t i = 0; result == 0 && i < launching->bench->repetitions; i++)
        result = repeat_prologs(launching);
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("LD_PRELOAD");
    return result == 0 ? testbed_stop_broker(launching->testbed) : -1;
}

int part_launch(const struct bench *bench)
{
    char lines[PATH_SIZE];
    const struct testbed_options options = {
        .mcastd = bench->mcastd, .mock_fm = bench->fm, .broker = lines, .hwcoll = request_hwcoll};
    struct launching launching = {.bench = bench};
    int result = -1;

    if (geteuid() != 0) {
        report_skipped(bench->report, "G20, G21", "only root can decode launch documents");
        return 0;
    }
    printf("G20, G21, a job of %zu nodes with a launch document\n", bench->nodes);
    fflush(stdout);
    if (folder_create(launching.folder) < 0)
        return -1;
    struct testmunged *munged = testmunged_start(launching.folder, "munged", 'a');
    snprintf(lines, sizeof lines, "munge_socket = %s\n", testmunged_socket(munged));
    if ((launching.testbed = testbed_create(&options)))
        result = measure(&launching, munged);
    testbed_destroy(launching.testbed);
    testmunged_stop(munged);
    folder_destroy(launching.folder);
    return result;
}
