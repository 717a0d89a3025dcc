#include "cli/command.h"
#include "cli/view.h"

static const char usage[] =
    "Usage: mcastctl show --cluster NAME JOB\n"
    "Shows what a job has. Its token shows as ***, with --json too; 'mcastctl env' prints it.\n\n"
    "Example:\n"
    "  mcastctl show --cluster elcap f2Rs8sydSxmd\n";

enum { JOB_SIZE = 160 };

static int run(const struct command *command, struct common *common, int argc, char **argv)
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
    if (mcast_show(handle, common->cluster, job, &reservation, &error) < 0)
        rc = command_failed(&error);
    else if (common->json)
        rc = command_print_json(mcast_reservation_json(reservation, MCAST_JSON_INDENT));
    else
        rc = view_reservation(reservation);
    mcast_reservation_free(reservation);
    mcast_close(handle);
    return rc;
}

const struct command command_show = {"show", "what one job has", usage, run};
