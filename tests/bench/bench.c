/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-bench: the goals for speed, measured (./dev bench). */
#include "tests/bench/parts.h"
#include "tests/bench/plot.h"
#include "tests/system/rig/process.h"

#include <curl/curl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: ./dev bench [--quick] [--only PART] [--repetitions N] [--live N] [--json FILE]\n"
    "                   [--plots[=FILE]] [--field]\n"
    "  --quick: a short pass, good enough for the counts but not for the ratios\n"
    "  --only: reserves (G1–G5), jobs (G8), slurm (G9, G27), launch (G20, G21), run (G28), slow "
    "(G10, C1, "
    "C7), reports (G13, G14),\n"
    "          crowd (G15, G22, G23), scale (G6, G7, G12), storms (C2–C5), site (G29), relay "
    "(G25), ha "
    "(G16–G19), inventory (P1), cost "
    "(C8–C14: instructions and "
    "allocations),\n"
    "          or field (etcd and nginx); else all of them, field with --field only\n"
    "  --live: as many reservations as live at most, for scale (1000000)\n"
    "  --json FILE: all figures, for programs\n"
    "  --plots: how it goes as more and more reservations live, drawn as docs/performance.svg\n"
    "  --field: also etcd and nginx, from the system or, unpacked only, from Debian's packages\n"
    "Exit status 1: something did not work, or a goal that is a count was missed.\n"
    "Leave the machine alone meanwhile. Data goes below $TMPDIR or /var/tmp: that disk is "
    "measured.\n";

enum { PATH_SIZE = 512, NICE = -5 /* of mcastd's unit */ };

static const struct part {
    const char *word;
    int (*run)(const struct bench *bench);
    bool in_quick;
} parts[] = {
    {"reserves", part_reserves, true},
    {"jobs", part_jobs, true},
    {"slurm", part_slurm, true},
    {"launch", part_launch, true},
    {"slow", part_slow, true},
    {"reports", part_reports, true},
    {"crowd", part_crowd, true},
    {"storms", part_storms, true},
    {"scale", part_scale, true},
    {"site", part_site, true},
    {"relay", part_relay, true},
    {"ha", part_ha, true},
    {"inventory", part_inventory, false},
    {"cost", part_cost, false},
    {"run", part_run, false},
    {"field", part_field, false},
};

enum { PARTS = sizeof parts / sizeof *parts };

struct arguments {
    const char *programs, *json, *plots;
    const struct part *only;
    bool quick, field;
    struct bench bench;
};

static const struct bench whole = {.repetitions = 5,
                                   .warm_up = 4000,
                                   .requests = 20000,
                                   .jobs = 10000,
                                   .slurm_jobs = 300,
                                   .released = 10000,
                                   .slow_ms = 5000,
                                   .nodes = 11136,
                                   .arrivals = 11136,
                                   .subscribers = 1000,
                                   .followed = 10000,
                                   .site = 60000,
                                   .live = 1000000,
                                   .counted = 2000};

/* A small crowd is one for a small broker. */
static const struct bench quick = {.repetitions = 1,
                                   .warm_up = 80,
                                   .requests = 800,
                                   .jobs = 300,
                                   .slurm_jobs = 5,
                                   .released = 300,
                                   .slow_ms = 1000,
                                   .nodes = 512,
                                   .arrivals = 150,
                                   .connections_max =
                                       420, /* three eighths are nodes': room for all of them */
                                   .subscribers = 100,
                                   .followed = 200,
                                   .site = 300,
                                   .live = 1000,
                                   .counted = 200};

static const struct part *find_part(const char *word)
{
    for (size_t i = 0; i < PARTS; i++)
        if (strcmp(parts[i].word, word) == 0)
            return &parts[i];
    return NULL;
}

static int read_option(struct arguments *out, int option)
{
    switch (option) {
    case 'b':
        out->programs = optarg;
        return 0;
    case 'q':
        out->bench = quick;
        out->quick = true;
        return 0;
    case 'o':
        out->only = find_part(optarg);
        return out->only ? 0 : -1;
    case 'r':
        out->bench.repetitions = strtoul(optarg, NULL, 10);
        return 0;
    case 'l':
        out->bench.live = strtoul(optarg, NULL, 10);
        return 0;
    case 'j':
        out->json = optarg;
        return 0;
    case 'p':
        out->plots = optarg ? optarg : "docs/performance.svg";
        return 0;
    case 'f':
        out->field = true;
        return 0;
    default:
        return -1;
    }
}

static int read_arguments(struct arguments *out, int argc, char **argv)
{
    static const struct option options[] = {{"bin", required_argument, NULL, 'b'},
                                            {"quick", no_argument, NULL, 'q'},
                                            {"only", required_argument, NULL, 'o'},
                                            {"repetitions", required_argument, NULL, 'r'},
                                            {"live", required_argument, NULL, 'l'},
                                            {"json", required_argument, NULL, 'j'},
                                            {"plots", optional_argument, NULL, 'p'},
                                            {"field", no_argument, NULL, 'f'},
                                            {NULL, 0, NULL, 0}};
    int option;

    *out = (struct arguments){.bench = whole};
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (read_option(out, option) < 0)
            return -1;
    const struct bench *bench = &out->bench;
    return optind == argc && out->programs && bench->repetitions >= 1 &&
                   bench->repetitions <= SAMPLE_MAX && bench->live >= 1000 && bench->live <= 1000000
               ? 0
               : -1;
}

/* The path of a program, or NULL when there is none: $VARIABLE, else the first that exists. */
static const char *find_program(const char *variable, const char *const places[])
{
    const char *chosen = getenv(variable);

    if (chosen && *chosen)
        return chosen;
    for (; *places; places++)
        if (access(*places, X_OK) == 0)
            return *places;
    return NULL;
}

static bool wanted(const struct arguments *arguments, const struct part *part)
{
    if (arguments->only)
        return part == arguments->only;
    if (arguments->quick)
        return part->in_quick;
    return part->run != part_field || arguments->field;
}

static int run(const struct arguments *arguments)
{
    int result = 0;

    for (size_t i = 0; result == 0 && i < PARTS; i++)
        if (wanted(arguments, &parts[i]))
            result = parts[i].run(&arguments->bench);
    return result;
}

/* As its unit runs mcastd, so all that is started runs here: whoever makes the load would be on
 * other machines, and takes no processor from it. */
static void favour(struct report *report)
{
    const bool may = process_favour(NICE);

    if (!may)
        printf("only root may run programs as mcastd's unit does, with the niceness %d: they have "
               "the same as the load\n",
               NICE);
    report_figure(report, "niceness of what is measured", "", may ? NICE : 0);
}

int main(int argc, char **argv)
{
    static const char *const valgrinds[] = {"/usr/bin/valgrind", NULL};
    static const char *const etcds[] = {"/usr/bin/etcd", NULL};
    static const char *const nginxes[] = {"/usr/sbin/nginx", NULL};
    static struct report report;
    char mcastd[PATH_SIZE], mock_fm[PATH_SIZE], fm[PATH_SIZE], echo[PATH_SIZE], counter[PATH_SIZE],
        names[PATH_SIZE];
    struct arguments arguments;

    if (read_arguments(&arguments, argc, argv) < 0) {
        fputs(usage, stderr);
        return 2;
    }
    snprintf(mcastd, sizeof mcastd, "%s/mcastd", arguments.programs);
    snprintf(mock_fm, sizeof mock_fm, "%s/mock-fm", arguments.programs);
    snprintf(fm, sizeof fm, "%s/bench-fm", arguments.programs);
    snprintf(echo, sizeof echo, "%s/bench-echo", arguments.programs);
    snprintf(counter, sizeof counter, "%s/../lib/bench-allocations.so", arguments.programs);
    snprintf(names, sizeof names, "%s/../lib/bench-names.so", arguments.programs);
    arguments.bench.programs = arguments.programs;
    arguments.bench.mcastd = mcastd;
    arguments.bench.mock_fm = mock_fm;
    arguments.bench.fm = fm;
    arguments.bench.echo = echo;
    arguments.bench.counter = counter;
    arguments.bench.names = names;
    arguments.bench.valgrind = find_program("BENCH_VALGRIND", valgrinds);
    arguments.bench.etcd = find_program("BENCH_ETCD", etcds);
    arguments.bench.nginx = find_program("BENCH_NGINX", nginxes);
    report.counts_only = arguments.quick;
    arguments.bench.report = &report;
    favour(&report);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    int result = run(&arguments);
    curl_global_cleanup();
    report_print(&report);
    if (result < 0)
        fputs("a part has failed (above): it and those behind it are missing\n", stderr);
    if (result == 0 && arguments.json)
        result = report_write_json(&report, arguments.json);
    if (result == 0 && arguments.plots)
        result = plot_write(&report, arguments.plots);
    return result == 0 && report_counts_met(&report) ? 0 : 1;
}
