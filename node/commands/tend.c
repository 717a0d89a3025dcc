/* SPDX-License-Identifier: Apache-2.0 */
/* boot and tend: what no job's hook does. */

#include "node/commands/command.h"
#include "node/record/remainder.h"
#include "node/record/report.h"

static const char boot_usage[] =
    "Usage: mcast-node boot [OPTIONS]\n"
    "At the start of the machine, before the resource manager's (mcast-node-boot.service):\n"
    "reports to the broker that no earlier service is left here, as none outlives a boot. So\n"
    "the VNIs of jobs that were running when the machine went down are not quarantined for it\n"
    "any more. If the broker cannot be reached, the next command reports it. It concerns\n"
    "nothing that was made since the boot, so it can run again, and late.\n\n"
    "Example:\n"
    "  mcast-node boot\n";

static const char tend_usage[] =
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

static int run_boot(struct node *node, const struct command_options *options)
{
    struct error err;
    struct mcast_error error;
    (void)options;
    if (!node->settings.report)
        return COMMAND_DONE;
    node->boot.owed = true;
    if (boot_write(&node->dir, &node->boot, &err) < 0)
        return command_failed(&err);
    int rc = COMMAND_DONE;
    enum report_fate fate = report_boot(node, &error);
    if (fate == REPORT_REFUSED) {
        say("the broker refused the report that this node has booted: %s; each job is reported by "
            "itself",
            error.text);
    } else if (fate == REPORT_KEPT) {
        say("warning: the report that this node has booted is sent later: %s", error.text);
        rc = command_exit(&error);
    }
    report_spool(node, 0);
    return rc;
}

static int run_tend(struct node *node, const struct command_options *options)
{
    node->users = options->users;
    int rc = remainder_retry(node, REMAINDER_ALL, UINT32_MAX);
    report_spool(node, 0);
    if (!node->broker_gone || rc != COMMAND_DONE)
        return rc;
    say("the broker does not answer; the reports are sent later");
    return COMMAND_UNREACHABLE;
}

const struct command command_boot = {
    "boot", "report that the machine has booted", boot_usage, "", SPOOL_WRITTEN, run_boot};
const struct command command_tend = {
    "tend", "finish what hooks had to leave", tend_usage, "s", SPOOL_WRITTEN, run_tend};
