#include "node/commands/page.h"

#include "base/roff.h"

#include <string.h>

static const char head[] =
    ".SH NAME\n"
    "mcast\\-node \\- CXI services of jobs on a compute node\n"
    ".SH SYNOPSIS\n"
    ".B mcast\\-node\n"
    ".I command\n"
    ".RI [ options ]\n"
    ".SH DESCRIPTION\n"
    "Runs as root on a compute node, from the hooks of the resource manager: creates a CXI "
    "service\n"
    "on every Slingshot NIC for a job that has VNIs of\n"
    ".BR mcastd (8),\n"
    "destroys it after the job, and tells the broker of both, so that no VNI is given to another\n"
    "job while one of its services is left anywhere.\n"
    ".PP\n"
    "What it does is remembered in the spool before it is done: whatever is killed, the epilog\n"
    "finds it. What the broker could not be told is told by the next command that talks to it.\n";

static const char tail[] =
    ".SH ENVIRONMENT\n"
    ".TP\n.B MCAST_URL\nThe broker, as\n.BR \\-\\-url .\n"
    ".TP\n.B MCAST_CLUSTER\nThe cluster, as\n.BR \\-\\-cluster .\n"
    ".TP\n.B MCAST_NODE_SPOOL\nThe spool, instead of node.conf\\(aqs.\n"
    ".TP\n.B SLURMD_NODENAME\nThis node\\(aqs name, where node.conf has none.\n"
    ".TP\n.BR MCAST_CACERT \", \" MCAST_CERT \", \" MCAST_KEY \", \" MCAST_MUNGE_SOCKET \", \" "
    "MCAST_SERVER_USER\n"
    "As in\n.BR mcastctl (1),\nwhere node.conf has none.\n"
    ".SH FILES\n"
    ".TP\n.I " SETTINGS_DEFAULT_FILE "\nThe configuration.\n"
    ".TP\n.I /var/lib/mcast\\-node\nThe spool.\n"
    ".SH SEE ALSO\n"
    ".BR mcastd (8),\n"
    ".BR mcastctl (1)\n";

static void print_key(void *arg, const char *name, const char *allowed, const char *initial,
                      const char *sentence)
{
    FILE *out = arg;
    fputs(".TP\n.B ", out);
    roff_text(out, name);
    fputc('\n', out);
    roff_text(out, sentence);
    fputs("\n.br\nAllowed: ", out);
    roff_text(out, allowed);
    fputs("; default: ", out);
    roff_text(out, initial[0] ? initial : "none");
    fputs(".\n", out);
}

void page_print(FILE *out, const struct command *const commands[], size_t count)
{
    roff_title(out, "MCAST\\-NODE", 8);
    fprintf(out, "%s.SH COMMANDS\n", head);
    for (size_t i = 0; i < count; i++) {
        fputs(".SS ", out);
        roff_text(out, commands[i]->name);
        fputc('\n', out);
        roff_example(out, commands[i]->usage);
    }
    fputs(".SH OPTIONS\nOf every command.\n", out);
    roff_example(out, strchr(command_common_usage, '\n') + 1);
    fputs(".SH CONFIGURATION\nLines\n.IR \"key = value\" ;\nthose that begin with # or ; are\n"
          "comments.\n",
          out);
    settings_each(print_key, out);
    fputs(".SH EXIT STATUS\n", out);
#define EXIT_(name, value, when)                                                                   \
    fputs(".TP\n.B " #value "\n", out);                                                            \
    roff_text(out, when "\n");
    COMMAND_EXITS(EXIT_)
#undef EXIT_
    fputs(tail, out);
}
