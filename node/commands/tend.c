/* SPDX-License-Identifier: Apache-2.0 */
/* boot and tend: what no job's hook does. */

#include "node/commands/command.h"
#include "node/record/inventory.h"
#include "node/record/missed.h"
#include "node/record/over.h"
#include "node/record/remainder.h"
#include "node/record/report.h"

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
    const int ended = node->broker_gone ? COMMAND_DONE : over_end(node);
    rc = rc == COMMAND_BUSY || ended == COMMAND_DONE ? rc : ended;
    if (!node->broker_gone) {
        missed_tell(node);
        inventory_tend(node);
    } else if (rc == COMMAND_DONE) {
        say("the broker does not answer; the reports are sent later");
        rc = COMMAND_UNREACHABLE;
    }
    return rc;
}

const struct command command_boot = {"boot", "report that the machine has booted", "",
                                     SPOOL_WRITTEN, run_boot};
const struct command command_tend = {"tend", "finish what hooks had to leave", "s", SPOOL_WRITTEN,
                                     run_tend};
