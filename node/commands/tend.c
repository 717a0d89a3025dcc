/* SPDX-License-Identifier: Apache-2.0 */
#include "node/commands/command.h"
#include "node/record/remainder.h"
#include "node/record/report.h"
#include "node/say.h"

static const char usage[] =
    "Usage: mcast-node tend [OPTIONS]\n"
    "What hooks had to leave: tries once more to destroy services that were in use when their job\n"
    "ended, and sends the broker the reports that are due. It touches nothing of a job whose\n"
    "epilog has not run, so it can run at any time: from a timer (mcast-node.timer), or from the\n"
    "resource manager's health check. Where nothing is left it asks neither NIC nor broker.\n\n"
    "  --users UIDS     who has jobs on this node, as the resource manager says (1000,1001): what\n"
    "                   theirs may be using is no reason to drain the node. Jobs with VNIs are\n"
    "                   known without\n\n"
    "Example:\n"
    "  mcast-node tend --users $(squeue -h -w $(hostname -s) -o %U | sort -u | paste -sd,)\n";

static int read_tend_option(int option, const char *value, void *data)
{
    (void)option;
    if (!remainder_users_valid(value))
        return command_misused(&command_tend, "--users %.80s: user ids such as 1000,1001", value);
    *(const char **)data = value;
    return COMMAND_GO_ON;
}

static int tend(struct node *node)
{
    struct error err;
    if (node_remember(node, true, &err) < 0)
        return command_failed(&err);
    int rc = remainder_retry(node, REMAINDER_ALL, UINT32_MAX);
    report_spool(node, 0);
    if (!node->broker_gone || rc != COMMAND_DONE)
        return rc;
    say("the broker does not answer; the reports are sent later");
    return COMMAND_UNREACHABLE;
}

static int run_tend(const struct command *command, struct node *node, int argc, char **argv)
{
    static const struct option options[] = {{"users", required_argument, NULL, 'u'}, {0}};
    int rc = command_options(command, node, argc, argv, options, read_tend_option, &node->users);
    return command_end(node, rc == COMMAND_GO_ON ? tend(node) : rc);
}

const struct command command_tend = {"tend", "finish what hooks had to leave", usage, run_tend};
