/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-replay: the log of a real machine through a real broker, with the fabric manager's double.
 * Exit status 0: every promise held. */
#include "plan/joblog.h"
#include "tests/system/replay/notes.h"
#include "tests/system/replay/rounds.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/testbed.h"

#include <curl/curl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: mcast-replay --mcastd FILE --mock-fm FILE [--kills N] [--seed N] [--connections N] "
    "[--jobs N]\n"
    "       [--min-nodes N] [--addresses N] [--report FILE] LOG\n"
    "  LOG: Standard Workload Format, plain or gzip. --kills N: kill -9 and restart the broker N\n"
    "  times on the way. --jobs N: no more than the log's first N. --addresses N: for each job of "
    "at\n"
    "  least --min-nodes N (128), so that jobs may be denied them; FILE receives which were, and\n"
    "  what all had at once. With --connections 1 nothing overtakes anything.\n";

struct arguments {
    const char *mcastd, *mock_fm, *log, *report;
    unsigned kills, connections, min_nodes, addresses;
    uint64_t seed;
    size_t jobs;
};

static int read_arguments(struct arguments *out, int argc, char **argv)
{
    static const struct option options[] = {
        {"mcastd", required_argument, NULL, 'b'},      {"mock-fm", required_argument, NULL, 'f'},
        {"kills", required_argument, NULL, 'k'},       {"seed", required_argument, NULL, 's'},
        {"connections", required_argument, NULL, 'c'}, {"jobs", required_argument, NULL, 'j'},
        {"min-nodes", required_argument, NULL, 'm'},   {"addresses", required_argument, NULL, 'a'},
        {"report", required_argument, NULL, 'r'},      {NULL, 0, NULL, 0}};
    int option;

    *out = (struct arguments){.connections = 32, .min_nodes = 128, .seed = 1, .jobs = SIZE_MAX};
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'b':
            out->mcastd = optarg;
            break;
        case 'f':
            out->mock_fm = optarg;
            break;
        case 'k':
            out->kills = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 's':
            out->seed = strtoull(optarg, NULL, 10);
            break;
        case 'c':
            out->connections = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'j':
            out->jobs = (size_t)strtoull(optarg, NULL, 10);
            break;
        case 'm':
            out->min_nodes = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'a':
            out->addresses = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'r':
            out->report = optarg;
            break;
        default:
            return -1;
        }
    }
    if (optind + 1 != argc || !out->mcastd || !out->mock_fm || out->connections == 0 ||
        out->jobs == 0)
        return -1;
    out->log = argv[optind];
    return 0;
}

enum { HWCOLL_SIZE = 160 };

/* A pool so small that every VNI is used again and again, and quarantined only for a moment. As
 * many addresses a job as the machine can give, 119 of 4086, so that a job often has to wait for
 * what the one before it is giving back. */
static struct testbed *set_stage(const struct arguments *arguments, char hwcoll[HWCOLL_SIZE])
{
    char addresses[16] = "auto";

    if (arguments->addresses > 0)
        snprintf(addresses, sizeof addresses, "%u", arguments->addresses);
    snprintf(hwcoll, HWCOLL_SIZE,
             "min_nodes = %u\naddresses_per_job = %s\ntotal_addresses = 4086\n"
             "system_nodes = 4360\n",
             arguments->min_nodes, addresses);
    const struct testbed_options options = {
        .mcastd = arguments->mcastd,
        .mock_fm = arguments->mock_fm,
        .hwcoll = hwcoll,
        .vni = "pool = 1024-1535\nhold = 100ms\n",
    };
    struct testbed *testbed = testbed_create(&options);

    if (testbed && testbed_start_fm(testbed) == 0 && testbed_start_broker(testbed) == 0 &&
        testbed_await_link(testbed) == 0)
        return testbed;
    testbed_destroy(testbed);
    return NULL;
}

static void check_outcome(const struct arguments *arguments, struct notes *notes)
{
    const size_t jobs = notes->job_count;

    /* Only a broker that was down, or just coming up, has a reason to hand out nothing. */
    if (arguments->kills == 0 && notes->unavailable > 0)
        notes_fault(notes, "%zu jobs found the fabric manager unavailable, and it never was",
                    notes->unavailable);
    if (arguments->addresses > 0)
        return;
    if (notes->ineligible > 0)
        notes_fault(notes, "%zu jobs are called too small for addresses", notes->ineligible);
    if (arguments->kills == 0 && notes->denied > 0)
        notes_fault(notes, "%zu jobs were denied addresses that were there, or being given back",
                    notes->denied);
    if (notes->reserved < jobs / 2)
        notes_fault(notes, "only %zu of %zu jobs got multicast addresses", notes->reserved, jobs);
}

/* In the order of the log: what `mcastctl plan --json` has to agree with. */
static int write_report(const struct arguments *arguments, const struct joblog *log,
                        const struct notes *notes)
{
    FILE *out = fopen(arguments->report, "we");

    if (!out) {
        perror(arguments->report);
        return -1;
    }
    for (size_t i = 0; i < log->job_count; i++)
        if (strcmp(notes->jobs[i].hwcoll, "denied") == 0)
            fprintf(out, "denied %s\n", log->jobs[i].id);
    fprintf(out, "ineligible %zu\naddresses %zu\nvnis %zu\n", notes->ineligible,
            notes->holding_max * arguments->addresses, notes->live_max);
    return fclose(out);
}

static int run(const struct arguments *arguments, const struct joblog *log)
{
    char hwcoll[HWCOLL_SIZE]; /* the broker's configuration is written at each start */
    struct testbed *testbed = set_stage(arguments, hwcoll);
    struct notes *notes = notes_create(log->job_count);
    const struct rounds_options options = {.log = log,
                                           .testbed = testbed,
                                           .connections = arguments->connections,
                                           .kills = arguments->kills,
                                           .seed = arguments->seed};
    int result = -1;

    if (testbed && notes) {
        const int64_t began = await_now_ns();

        result = rounds_play(&options, notes);
        if (result == 0 && notes->faults == 0) {
            notes_conclude(notes);
            check_outcome(arguments, notes);
            result = rounds_await_quiet(testbed);
            if (result == 0 && arguments->report)
                result = write_report(arguments, log, notes);
        }
        const double seconds = (double)(await_now_ns() - began) / 1e9;
        printf(
            "%zu of %zu jobs released in %.1f s, %u kills (seed %llu); at most %zu live at once\n"
            "  multicast addresses: %zu reserved, %zu denied, %zu timeout, %zu unavailable, "
            "%zu ineligible\n"
            "  %zu answers to a repeated reserve; %zu faults\n",
            notes->released, notes->job_count, seconds, arguments->kills,
            (unsigned long long)arguments->seed, notes->live_max, notes->reserved, notes->denied,
            notes->timeout, notes->unavailable, notes->ineligible, notes->repeated, notes->faults);
        if (testbed_broker(testbed) && (result != 0 || notes->faults > 0))
            process_print_log(testbed_broker(testbed));
        /* Both must be able to end by themselves, and with nothing to complain about. */
        if (notes->faults > 0 || (testbed_broker(testbed) && testbed_stop_broker(testbed) < 0) ||
            testbed_stop_fm(testbed) < 0)
            result = -1;
    }
    notes_destroy(notes);
    testbed_destroy(testbed);
    return result;
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    struct joblog log;
    struct error err;

    if (read_arguments(&arguments, argc, argv) < 0) {
        fputs(usage, stderr);
        return 2;
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
        return 1;
    if (joblog_read(&log, arguments.log, arguments.jobs, &err) < 0 || log.fault_count > 0) {
        fprintf(stderr, "%s: %s\n", arguments.log,
                log.fault_count > 0 ? log.faults[0].words : err.text);
        return 1;
    }
    const int result = run(&arguments, &log);
    joblog_release(&log);
    curl_global_cleanup();
    return result == 0 ? 0 : 1;
}
