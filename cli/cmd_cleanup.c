#include "cli/command.h"
#include "cli/duration.h"
#include "forms/jobid.h"

#include <jansson.h>
#include <stdio.h>

static const char usage[] =
    "Usage: mcastctl cleanup --step STEP [--below] [--wait TIME]\n"
    "Has the multicast trees of a step removed that ended without doing so itself. For whoever "
    "has\n"
    "a token of the job, in MCAST_TOKEN: the job's own (FI_CXI_COLL_MCAST_TOKEN in its tasks), or\n"
    "one of the broker's that reaches the step. It goes on in the background, also when this\n"
    "command, or the broker, does not.\n\n"
    "  --step STEP   Flux's job id path, or Slurm's step\n"
    "  --below       the steps below it too\n"
    "  --wait TIME   until the trees are gone, at most so long: 2s, up to 60s\n\n"
    "Example:\n"
    "  MCAST_TOKEN=$FI_CXI_COLL_MCAST_TOKEN mcastctl cleanup --step /f2Rs8sydSxmd/fA --wait 2s\n";

enum { STEP_SIZE = 1024, WAIT_MAX_S = 60 };

struct wanted {
    char step[STEP_SIZE];
    unsigned flags, wait_ms;
};

static int take(int option, const char *value, void *data)
{
    struct wanted *wanted = data;
    int64_t seconds;
    switch (option) {
    case 's':
        if (!jobid_plain_path(value, wanted->step, sizeof(wanted->step)))
            return command_misused(&command_cleanup, "--step: too long for a step");
        return COMMAND_GO_ON;
    case 'b':
        wanted->flags |= MCAST_BELOW;
        return COMMAND_GO_ON;
    default:
        if (!duration_parse(value, &seconds) || seconds > WAIT_MAX_S)
            return command_misused(&command_cleanup,
                                   "--wait %.40s: a number with its unit, as 2s, up to %ds", value,
                                   WAIT_MAX_S);
        wanted->wait_ms = (unsigned)seconds * 1000;
        return COMMAND_GO_ON;
    }
}

static int print(const struct common *common, const struct wanted *wanted, bool gone)
{
    if (common->json) {
        json_t *root =
            json_pack("{s:s,s:b,s:s}", "step", wanted->step, "below",
                      wanted->flags & MCAST_BELOW ? 1 : 0, "state", gone ? "cleaned" : "accepted");
        char *text = json_dumps(root, JSON_INDENT(2));
        json_decref(root);
        return command_print_json(text);
    }
    printf("%s%s: %s\n", wanted->step, wanted->flags & MCAST_BELOW ? " and below" : "",
           gone ? "no trees are left" : "accepted");
    return command_finish();
}

static int run(const struct command *command, struct common *common, int argc, char **argv)
{
    static const struct option options[] = {
        {"step", required_argument, NULL, 's'},
        {"below", no_argument, NULL, 'b'},
        {"wait", required_argument, NULL, 'w'},
        {0},
    };
    struct wanted wanted = {.wait_ms = 0};
    struct mcast *handle = NULL;
    struct mcast_error error;
    bool gone = false;
    int rc = command_options(command, common, argc, argv, options, take, &wanted);
    if (rc == COMMAND_GO_ON)
        rc = command_no_arguments(command, argc, argv);
    if (rc == COMMAND_GO_ON && !wanted.step[0])
        rc = command_misused(command, "which step? give --step STEP");
    if (rc == COMMAND_GO_ON)
        rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    rc = mcast_cleanup(handle, wanted.step, wanted.flags, wanted.wait_ms, &gone, &error) < 0
             ? command_failed(&error)
             : print(common, &wanted, gone);
    mcast_close(handle);
    return rc;
}

const struct command command_cleanup = {"cleanup", "have the trees of a step removed", usage, run};
