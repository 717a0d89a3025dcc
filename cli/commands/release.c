/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <stdio.h>

static const char usage[] =
    "Usage: mcastctl release --cluster NAME JOB\n"
    "Gives back what a job had, in the background: the answer does not wait for the fabric\n"
    "manager. A job that is released already is no error.\n\n"
    "Example:\n"
    "  mcastctl release --cluster elcap f2Rs8sydSxmd\n";

enum { JOB_SIZE = 160 };

static int print(const struct common *common, const struct mcast_reservation *reservation)
{
    if (common->json)
        return command_print_json(mcast_reservation_json(reservation, MCAST_JSON_INDENT));
    printf("%s/%s: %s\n", reservation->cluster, reservation->job, reservation->state);
    return command_finish();
}

static int run_release(const struct command *command, struct common *common, int argc, char **argv)
{
    struct mcast *handle = NULL;
    struct mcast_reservation *reservation = NULL;
    struct mcast_error error;
    char job[JOB_SIZE];
    int rc = command_options(command, common, argc, argv, NULL, NULL, NULL);
    if (rc == COMMAND_GO_ON)
        rc = command_job(command, common, argc, argv, job, sizeof(job));
    if (rc == COMMAND_GO_ON)
        rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (mcast_release(handle, common->cluster, job, &reservation, &error) < 0)
        rc = command_failed(&error);
    else
        rc = print(common, reservation);
    mcast_reservation_free(reservation);
    mcast_close(handle);
    return rc;
}

const struct command command_release = {"release", "give back what a job had", usage, run_release};
