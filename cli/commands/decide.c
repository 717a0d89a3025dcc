/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>

/* What an administrator decides when the broker has raised an alarm. */

static const char accept_loss_usage[] =
    "Usage: mcastctl accept-loss\n"
    "What the fabric manager no longer has is lost: the jobs are notified, as for a single loss.\n"
    "When much is missing at once the broker declares nothing lost by itself and raises the\n"
    "alarm mass-loss, because a gateway that answers for the fabric manager looks the same.\n"
    "Look at the fabric manager first: resource managers may end the jobs. For administrators\n"
    "only.\n\n"
    "Example:\n"
    "  mcastctl accept-loss\n";

static const char claim_usage[] =
    "Usage: mcastctl claim CLUSTER\n"
    "No other broker and no Slurm uses this cluster's name on the fabric: what the fabric\n"
    "manager lists under it and this ledger does not know is this broker's. It is treated as\n"
    "active until the resource manager's list or a release says otherwise. While the alarm\n"
    "name-conflict is on the broker deletes none of it. First look for another broker, as a test\n"
    "copy of the configuration: jobs of it that are claimed are released when this resource\n"
    "manager's list does not name them. Says nothing of VNIs: those that jobs of an old ledger\n"
    "may use stay quarantined. For administrators only.\n\n"
    "Example:\n"
    "  mcastctl claim elcap\n";

static int print(const struct common *common, uint64_t count, const char *decided)
{
    if (common->json)
        printf("{\"reservations\": %" PRIu64 "}\n", count);
    else
        printf("%" PRIu64 " reservation%s %s\n", count, count == 1 ? "" : "s", decided);
    return command_finish();
}

static int run_accept_loss(const struct command *command, struct common *common, int argc,
                           char **argv)
{
    struct mcast *handle = NULL;
    struct mcast_error error;
    uint64_t count = 0;
    int rc = command_options(command, common, argc, argv, NULL, NULL, NULL);
    if (rc == COMMAND_GO_ON)
        rc = command_no_arguments(command, argc, argv);
    if (rc == COMMAND_GO_ON)
        rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    rc = mcast_accept_loss(handle, &count, &error) < 0 ? command_failed(&error)
                                                       : print(common, count, "accepted as lost");
    mcast_close(handle);
    return rc;
}

/* The cluster is an argument: MCAST_CLUSTER does not decide. */
static int run_claim(const struct command *command, struct common *common, int argc, char **argv)
{
    struct mcast *handle = NULL;
    struct mcast_error error;
    uint64_t count = 0;
    int rc = command_options(command, common, argc, argv, NULL, NULL, NULL);
    if (rc == COMMAND_GO_ON && argc - optind != 1)
        rc = command_misused(command, "which cluster? name exactly one");
    if (rc == COMMAND_GO_ON)
        rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    rc = mcast_claim(handle, argv[optind], &count, &error) < 0 ? command_failed(&error)
                                                               : print(common, count, "claimed");
    mcast_close(handle);
    return rc;
}

const struct command command_accept_loss = {
    "accept-loss", "accept that what the fabric manager no longer has is lost", accept_loss_usage,
    run_accept_loss};
const struct command command_claim = {"claim", "no other broker or Slurm uses a cluster's name",
                                      claim_usage, run_claim};
