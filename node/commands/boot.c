/* SPDX-License-Identifier: Apache-2.0 */
#include "node/commands/command.h"
#include "node/record/report.h"
#include "node/say.h"

static const char usage[] =
    "Usage: mcast-node boot [OPTIONS]\n"
    "At the start of the machine, before the resource manager's (mcast-node-boot.service):\n"
    "reports to the broker that no earlier service is left here, as none outlives a boot. So\n"
    "the VNIs of jobs that were running when the machine went down are not quarantined for it\n"
    "any more. If the broker cannot be reached, the next command reports it. It concerns\n"
    "nothing that was made since the boot, so it can run again, and late.\n\n"
    "Example:\n"
    "  mcast-node boot\n";

static int report_this_boot(struct node *node)
{
    struct error err;
    struct mcast_error error;
    if (node_remember(node, true, &err) < 0)
        return command_failed(&err);
    if (!node->settings.report)
        return COMMAND_DONE;
    node->boot.owed = true;
    if (boot_write(&node->dir, &node->boot, &err) < 0)
        return command_failed(&err);
    int rc = COMMAND_DONE;
    enum report_fate fate = report_boot(node, &error);
    if (fate == REPORT_KEPT)
        say("warning: the report that this node has booted is sent later: %s", error.text);
    if (fate == REPORT_REFUSED)
        say("the broker refused the report that this node has booted: %s; each job is reported by "
            "itself",
            error.text);
    if (fate != REPORT_TAKEN && fate != REPORT_REFUSED)
        rc = command_exit(&error);
    report_spool(node, 0);
    return rc;
}

static int run_boot(const struct command *command, struct node *node, int argc, char **argv)
{
    static const struct option options[] = {{0}};
    int rc = command_options(command, node, argc, argv, options, NULL, NULL);
    return command_end(node, rc == COMMAND_GO_ON ? report_this_boot(node) : rc);
}

const struct command command_boot = {"boot", "report that the machine has booted", usage, run_boot};
