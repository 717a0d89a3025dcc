/* mcast-bench: the goals for speed, measured (./dev bench). */
#include "tests/bench/goals.h"
#include "tests/bench/report.h"

#include <curl/curl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "usage: ./dev bench [--quick] [--only reserves|jobs|reports] [--repetitions N]\n"
    "                   [--json FILE]\n"
    "  --quick: a short pass, good enough for the counts but not for the ratios\n"
    "  --only: reserves (G1–G5), whole jobs (G8), or reports of nodes (G13–G15)\n"
    "  --json FILE: all figures, for programs\n"
    "Exit status 1: something did not work, or a goal that is a count was missed.\n"
    "Leave the machine alone meanwhile. Data goes below $TMPDIR or /var/tmp: that disk is "
    "measured.\n";

enum { PROGRAM_PATH_SIZE = 512 };

struct arguments {
    const char *programs, *json;
    struct goals_options goals;
};

static int read_arguments(struct arguments *out, int argc, char **argv)
{
    static const struct option options[] = {
        {"bin", required_argument, NULL, 'b'},  {"quick", no_argument, NULL, 'q'},
        {"only", required_argument, NULL, 'o'}, {"repetitions", required_argument, NULL, 'r'},
        {"json", required_argument, NULL, 'j'}, {NULL, 0, NULL, 0}};
    int option;

    *out = (struct arguments){
        .goals =
            {.repetitions = 5, .requests = 20000, .jobs = 10000, .nodes = 11136, .arrivals = 11136},
    };
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'b':
            out->programs = optarg;
            break;
        case 'q':
            out->goals.repetitions = 1;
            out->goals.requests = 3200;
            out->goals.jobs = 1000;
            out->goals.nodes = 2048;
            out->goals.arrivals = 300; /* a small crowd is one for a small broker */
            out->goals.connections_max = 400;
            break;
        case 'o':
            if (!goals_part(optarg, &out->goals.only))
                return -1;
            break;
        case 'r':
            out->goals.repetitions = strtoul(optarg, NULL, 10);
            break;
        case 'j':
            out->json = optarg;
            break;
        default:
            return -1;
        }
    }
    return optind == argc && out->programs && out->goals.repetitions >= 1 &&
                   out->goals.repetitions <= SAMPLE_MAX
               ? 0
               : -1;
}

int main(int argc, char **argv)
{
    char mcastd[PROGRAM_PATH_SIZE], mock_fm[PROGRAM_PATH_SIZE], echo[PROGRAM_PATH_SIZE];
    struct arguments arguments;

    if (read_arguments(&arguments, argc, argv) < 0) {
        fputs(usage, stderr);
        return 2;
    }
    snprintf(mcastd, sizeof mcastd, "%s/mcastd", arguments.programs);
    snprintf(mock_fm, sizeof mock_fm, "%s/mock-fm", arguments.programs);
    snprintf(echo, sizeof echo, "%s/bench-echo", arguments.programs);
    arguments.goals.mcastd = mcastd;
    arguments.goals.mock_fm = mock_fm;
    arguments.goals.echo = echo;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const struct report *report = goals_measure(&arguments.goals);
    if (report)
        report_print(report);
    const int written = report && arguments.json ? report_write_json(report, arguments.json) : 0;
    curl_global_cleanup();
    return report && goals_counts_met() && written == 0 ? 0 : 1;
}
