/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-node: a job's CXI services on this node. */

#include "base/roff.h"
#include "node/commands/command.h"

#include <stdio.h>
#include <string.h>

static const struct command *const commands[] = {
    &command_prolog, &command_env,  &command_epilog, &command_housekeeping, &command_tend,
    &command_clean,  &command_boot, &command_list,   &command_explain,      &command_share,
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const char help_tail[] =
    "\nExit codes: 0 done, 1 failed, 2 usage, 3 no such reservation (any more),\n"
    "4 broker unreachable, 5 services cannot be destroyed (drain the node), 6 the job cannot\n"
    "have it here (the node is good), 7 services are in use by another job of their owner.\n"
    "Every command explains itself: mcast-node COMMAND --help\n"
    "\nExample:\n"
    "  mcast-node prolog --job f2Rs8sydSxmd\n"
    "  vars=$(mcast-node env --job f2Rs8sydSxmd) && eval \"$vars\"\n"
    "  mcast-node epilog --job f2Rs8sydSxmd\n";

static void print_help(void)
{
    puts("Usage: mcast-node COMMAND [OPTIONS]\n"
         "CXI services of jobs on a compute node, for the VNIs that mcastd reserved.\n\n"
         "Commands:");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-13s %s\n", commands[i]->name, commands[i]->summary);
    printf("\n%s  --help-config    every key of node.conf\n"
           "  --man-page       mcast-node(8), for man -l\n"
           "  --version        the release\n%s",
           command_common_usage, help_tail);
}

static const char page_head[] =
    ".SH NAME\n"
    "mcast\\-node \\- CXI services of jobs on a compute node\n"
    ".SH SYNOPSIS\n"
    ".B mcast\\-node\n"
    ".I command\n"
    ".RI [ options ]\n"
    ".SH DESCRIPTION\n"
    "Runs as root on a compute node, from the hooks of the resource manager: creates a CXI\n"
    "service on every Slingshot NIC for a job that has VNIs of\n"
    ".BR mcastd (8),\n"
    "destroys it after the job, and reports both to the broker, so that no VNI is given to\n"
    "another job while one of its services is left anywhere.\n"
    ".PP\n"
    "What it does is remembered in the spool before it is done: whatever is killed, the epilog\n"
    "finds it. A report that cannot be sent is sent by the next command that reaches the broker.\n";

static const char page_tail[] =
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

static void print_page(FILE *out)
{
    roff_title(out, "MCAST\\-NODE", 8);
    fprintf(out, "%s.SH COMMANDS\n", page_head);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
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
    settings_print_page(out);
    fputs(".SH EXIT STATUS\n", out);
#define EXIT_(name, value, when)                                                                   \
    fputs(".TP\n.B " #value "\n", out);                                                            \
    roff_text(out, when "\n");
    COMMAND_EXITS(EXIT_)
#undef EXIT_
    fputs(page_tail, out);
}

/* What is asked of the program rather than of a command. */
static int answer_for_program(const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        print_help();
    else if (strcmp(word, "--version") == 0)
        printf("mcast-node %s\n", mcast_version());
    else if (strcmp(word, "--help-config") == 0)
        settings_print_sample(stdout);
    else if (strcmp(word, "--man-page") == 0)
        print_page(stdout);
    else
        return command_misused(NULL, "unknown command '%.80s'", word);
    return command_finish(COMMAND_DONE);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return command_misused(NULL, "a command is required");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, argv[1]) == 0) {
            argv[1] = argv[0]; /* what getopt calls the program in its messages */
            return command_run(commands[i], argc - 1, argv + 1);
        }
    }
    return answer_for_program(argv[1]);
}
