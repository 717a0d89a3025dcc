/* SPDX-License-Identifier: Apache-2.0 */
#include "hook/options.h"

#include "base/duration.h"
#include "base/roff.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEADLINE_MAX_MS = 3600 * 1000 };

static const char usage[] =
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

static const char page_head[] =
    ".SH NAME\n"
    "mcast\\-cleanup \\- removes the multicast trees of a job\\(aqs step\n"
    ".SH SYNOPSIS\n"
    ".B mcast\\-cleanup\n"
    ".RI [ options ]\n"
    ".SH DESCRIPTION\n"
    "For epilogs and rc3 of Flux, for epilogs of Slurm, and by hand, as any user and without a\n"
    "configuration file. What it needs is in the environment of every task of the job.\n";

static const char page_tail[] =
    ".PP\n"
    "The process in the background has a session of its own and none of the caller\\(aqs open\n"
    "files; no process waits for it. It retries while no service answers, and ends by the\n"
    "deadline, whatever happens.\n"
    ".PP\n"
    "Where the fabric manager shows the token neither the job nor lets it end a step, nothing\n"
    "can be done without\n"
    ".BR mcastd (8).\n"
    "Trees that stay are removed with the job.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n.B MCAST_URL\nThe broker, as in\n.BR mcastctl (1),\n"
    "which is asked first; over TLS with\n.BR MCAST_CACERT ,\n"
    "over a Unix socket that another user may serve with\n.BR MCAST_SERVER_USER .\n"
    ".TP\n.B MCAST_TOKEN\nA token of the broker\\(aqs, perhaps a narrowed one; without it, the\n"
    "job\\(aqs own is shown.\n"
    ".TP\n.BR FI_CXI_COLL_FABRIC_MGR_URL \", \" FI_CXI_COLL_FABRIC_MGR_CACERT\n"
    "The fabric manager, and the CA of its certificate.\n"
    ".TP\n.BR FI_CXI_COLL_JOB_ID \", \" FI_CXI_COLL_MCAST_TOKEN\n"
    "The job\\(aqs name there, and its token.\n"
    ".TP\n.B FI_CXI_COLL_JOB_STEP_ID\nThe step, without\n.BR \\-\\-step .\n"
    ".PP\n"
    "A job without hardware collectives has none of them, and nothing is done.\n"
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\nAlways, unless\n.B \\-\\-strict\nis given: then only when it was accepted or is\n"
    "done, or has been left to the background.\n"
    ".TP\n.B 1\nSomething is missing or wrong, which one line on standard error says; with\n"
    ".B \\-\\-wait\nalso when the trees are not known to be gone.\n"
    ".TP\n.B 2\nWrong usage.\n"
    ".SH SEE ALSO\n"
    ".BR mcastctl (1),\n"
    ".BR mcastd (8)\n";

static void print_page(FILE *out)
{
    roff_title(out, "MCAST\\-CLEANUP", 8);
    fputs(page_head, out);
    roff_example(out, usage);
    fputs(page_tail, out);
}

enum option_id { STEP = 1, BELOW, WAIT, DEADLINE, STRICT, HELP = 'h', MAN_PAGE = 256, VERSION };

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

static enum options_end read_option(struct options *options, int option)
{
    switch ((enum option_id)option) {
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
        fprintf(
            stderr,
            "mcast-cleanup: --deadline %.40s: a number with its unit, as 500ms, 30s or 10m, of at "
            "most 1h\n",
            optarg);
        return OPTIONS_MISUSED;
    case HELP:
        fputs(usage, stdout);
        return OPTIONS_ANSWERED;
    case MAN_PAGE:
        print_page(stdout);
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
        const enum options_end one =
            end == OPTIONS_GO_ON || option == STRICT ? read_option(options, option) : OPTIONS_GO_ON;
        end = end == OPTIONS_GO_ON ? one : end;
    }
    /* Not shown: it may be a token. */
    if (end == OPTIONS_GO_ON && optind < argc) {
        fputs("mcast-cleanup: takes no arguments; the step is named with --step\n", stderr);
        end = OPTIONS_MISUSED;
    }
    return end;
}
