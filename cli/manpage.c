/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/manpage.h"

#include "base/roff.h"

#include <string.h>

static const char head[] =
    ".SH NAME\n"
    "mcastctl \\- VNIs and multicast addresses of jobs, from mcastd\n"
    ".SH SYNOPSIS\n"
    ".B mcastctl\n"
    ".RI [ options ]\n"
    ".I command\n"
    ".RI [ options ]\n"
    ".RI [ arguments ]\n"
    ".SH DESCRIPTION\n"
    "Asks\n"
    ".BR mcastd (8),\n"
    "over its Unix socket or over TLS, to reserve what a job needs, to give it back, and how it\n"
    "is. For people, and for the hooks of resource managers: it prints tables, or JSON, and its\n"
    "exit codes tell what happened.\n";

static const char environment[] =
    ".SH ENVIRONMENT\n"
    ".TP\n.B MCAST_URL\n"
    "The broker, as\n.BR \\-\\-url .\n"
    ".TP\n.B MCAST_CLUSTER\n"
    "The resource manager\\(aqs cluster, as\n.BR \\-\\-cluster .\n"
    ".TP\n.B MCAST_CACERT\n"
    "What signed the broker\\(aqs certificate: a PEM file, or a folder as openssl rehash makes "
    "it.\n"
    ".TP\n.BR MCAST_CERT \", \" MCAST_KEY\n"
    "A client certificate and its key, PEM. A key that others can read is refused.\n"
    ".TP\n.B MCAST_MUNGE_SOCKET\n"
    "Of munged. Over TCP, where no client certificate is given, each request carries a MUNGE\n"
    "credential of its own, if libmunge and munged are there.\n"
    ".TP\n.B MCAST_SERVER_USER\n"
    "Who may serve the broker\\(aqs Unix socket besides root and the owner of its folder: a name "
    "or\n"
    "a uid. Another one is sent nothing.\n"
    ".TP\n.B MCAST_TOKEN\n"
    "A token of one job, the job\\(aqs own or one of the broker\\(aqs: what\n.B cleanup\nshows, "
    "and what\n.B token\nworks on, there instead of standard input.\n"
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\nDone.\n"
    ".TP\n.B 1\nThe broker refuses, or the output could not be written; of doctor: a problem was "
    "found.\n"
    ".TP\n.B 2\nWrong usage; nothing was sent.\n"
    ".TP\n.B 3\nThere is no such job.\n"
    ".TP\n.B 4\nNot now: no broker can be reached, what answers cannot be trusted, or it cannot "
    "serve\njust now. Try again;\n.B \\-\\-patience\ndoes so.\n"
    ".SH FILES\n"
    ".TP\n.I " MCAST_DEFAULT_SOCKET "\n"
    "Where the broker is asked unless something else is named.\n"
    ".SH SEE ALSO\n"
    ".BR mcastd (8),\n"
    ".BR mcastd.conf (5),\n"
    ".BR munge (7)\n";

void manpage_print(FILE *out, const struct command *const commands[], size_t count)
{
    roff_title(out, "MCASTCTL", 1);
    fprintf(out, "%s.SH COMMANDS\n", head);
    for (size_t i = 0; i < count; i++) {
        fputs(".SS ", out);
        roff_text(out, commands[i]->name);
        fputc('\n', out);
        roff_example(out, commands[i]->usage);
    }
    fputs(".SH OPTIONS\nBefore or after the name of the command.\n", out);
    roff_example(out, strchr(command_common_usage, '\n') + 1);
    fputs(environment, out);
}
