#include "hook/page.h"

#include "base/roff.h"
#include "hook/options.h"

static const char head[] =
    ".SH NAME\n"
    "mcast\\-cleanup \\- removes the multicast trees of a job\\(aqs step\n"
    ".SH SYNOPSIS\n"
    ".B mcast\\-cleanup\n"
    ".RI [ options ]\n"
    ".SH DESCRIPTION\n"
    "For epilogs and rc3 of Flux, for epilogs of Slurm, and by hand, as any user and without a\n"
    "configuration file. What it needs is in the environment of every task of the job.\n";

static const char tail[] =
    ".PP\n"
    "The process in the background has a session of its own and none of the caller\\(aqs open\n"
    "files; nobody waits for it. It asks again while nobody answers, and ends by the deadline,\n"
    "whatever happens.\n"
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
    "The fabric manager, and whose signature on its certificate is good.\n"
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

void page_print(FILE *out)
{
    roff_title(out, "MCAST\\-CLEANUP", 8);
    fputs(head, out);
    roff_example(out, options_usage);
    fputs(tail, out);
}
