#include "hook/options.h"

#include "base/duration.h"
#include "hook/page.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEADLINE_MAX_MS = 3600 * 1000 };

const char options_usage[] =
    "Usage: mcast-cleanup [--step STEP] [--below] [--wait] [--deadline TIME] [--strict]\n"
    "Has the multicast trees of a job's step removed that ended without doing so itself, with\n"
    "the job's token alone: by mcastd, or straight at the fabric manager where mcastd does not\n"
    "answer. Comes back at once, goes on in the background, and never fails a job.\n\n"
    "  --step STEP      the step: Flux's job id path, or Slurm's step; without it,\n"
    "                   FI_CXI_COLL_JOB_STEP_ID\n"
    "  --below          all steps below it, too\n"
    "  --wait           stay until the trees are gone\n"
    "  --deadline TIME  give up then: 500ms, 30s, 10m; at most 1h (default: " OPTIONS_DEADLINE ")\n"
    "  --strict         exit status 1 when something is wrong, 2 for wrong usage; without it, 0\n"
    "  -h, --help       this text\n"
    "  --man-page       mcast-cleanup(8), for man -l\n"
    "  --version        the release\n\n"
    "Example, in the epilog of a nested Flux instance:\n"
    "  mcast-cleanup --below --step \"$FI_CXI_COLL_JOB_STEP_ID/$FLUX_JOB_ID\"\n";

enum word { STEP = 1, BELOW, WAIT, DEADLINE, STRICT, HELP = 'h', MAN_PAGE = 256, VERSION };

static const struct option known[] = {
    {"step", required_argument, NULL, STEP},
    {"below", no_argument, NULL, BELOW},
    {"wait", no_argument, NULL, WAIT},
    {"deadline", required_argument, NULL, DEADLINE},
    {"strict", no_argument, NULL, STRICT},
    {"help", no_argument, NULL, HELP},
    {"man-page", no_argument, NULL, MAN_PAGE},
    {"version", no_argument, NULL, VERSION},
    {0},
};

static enum options_end take(struct options *options, int option, const char *program)
{
    switch ((enum word)option) {
    case STEP:
        options->step = optarg;
        return OPTIONS_GO_ON;
    case BELOW:
        options->below = true;
        return OPTIONS_GO_ON;
    case WAIT:
        options->wait = true;
        return OPTIONS_GO_ON;
    case STRICT:
        options->strict = true;
        return OPTIONS_GO_ON;
    case DEADLINE:
        options->deadline_ms = duration_parse(optarg, 0, DEADLINE_MAX_MS);
        if (options->deadline_ms > 0)
            return OPTIONS_GO_ON;
        fprintf(stderr,
                "%s: --deadline %.40s: a number with its unit, as 500ms, 30s or 10m, of at "
                "most 1h\n",
                program, optarg);
        return OPTIONS_MISUSED;
    case HELP:
        fputs(options_usage, stdout);
        return OPTIONS_ANSWERED;
    case MAN_PAGE:
        page_print(stdout);
        return OPTIONS_ANSWERED;
    case VERSION:
        puts("mcast-cleanup " MCAST_VERSION);
        return OPTIONS_ANSWERED;
    }
    return OPTIONS_MISUSED; /* getopt has said it */
}

enum options_end options_read(struct options *options, int argc, char **argv)
{
    enum options_end end = OPTIONS_GO_ON;
    int option;
    *options =
        (struct options){.deadline_ms = duration_parse(OPTIONS_DEADLINE, 0, DEADLINE_MAX_MS)};
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        const enum options_end one = end == OPTIONS_GO_ON || option == STRICT
                                         ? take(options, option, "mcast-cleanup")
                                         : OPTIONS_GO_ON;
        end = end == OPTIONS_GO_ON ? one : end;
    }
    /* Not shown: it may be a token that somebody took for an argument. */
    if (end == OPTIONS_GO_ON && optind < argc) {
        fputs("mcast-cleanup: takes no arguments; the step is named with --step\n", stderr);
        end = OPTIONS_MISUSED;
    }
    return end;
}
