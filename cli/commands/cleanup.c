/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "base/duration.h"
#include "base/jobid.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: mcastctl cleanup --step STEP [--below] [--wait TIME]\n"
    "Asks the broker to remove the multicast trees of a step that ended without doing so. Needs a\n"
    "token of the job in MCAST_TOKEN: the job's own (FI_CXI_COLL_MCAST_TOKEN in its tasks), or "
    "one\n"
    "of the broker's that is valid for the step. The removal runs in the background and survives\n"
    "the end of this command and a restart of the broker. A second request while it is pending\n"
    "does not restart its time.\n\n"
    "  --step STEP   Flux's job id path, or Slurm's step\n"
    "  --below       the steps below it too. Of the own path, $FLUX_JOB_ID_PATH in an instance,\n"
    "                these are all jobs of the instance, also those that run: name one\n"
    "                with \"$FLUX_JOB_ID_PATH/$(flux job id --to=f58plain JOBID)\"\n"
    "  --wait TIME   until the trees are gone, at most so long: 500ms, 2s, up to 60s\n\n"
    "Example:\n"
    "  MCAST_TOKEN=$FI_CXI_COLL_MCAST_TOKEN mcastctl cleanup --step /f2Rs8sydSxmd/fA --wait 2s\n";

enum { STEP_SIZE = 1024, WAIT_MAX_MS = 60000 };

struct wanted {
    char step[STEP_SIZE];
    unsigned flags, wait_ms;
};

static int store_cleanup_option(int option, const char *value, void *data)
{
    struct wanted *wanted = data;
    int64_t ms;
    switch (option) {
    case 's':
        if (!jobid_plain_path(value, wanted->step, sizeof(wanted->step)))
            return command_misused(&command_cleanup, "--step: too long for a step");
        return COMMAND_GO_ON;
    case 'b':
        wanted->flags |= MCAST_BELOW;
        return COMMAND_GO_ON;
    default:
        ms = duration_parse(value, DURATION_DAYS, WAIT_MAX_MS);
        if (ms <= 0)
            return command_misused(&command_cleanup,
                                   "--wait %.40s: a number with its unit, as 500ms or 2s, up to "
                                   "%ds",
                                   value, WAIT_MAX_MS / 1000);
        wanted->wait_ms = (unsigned)ms;
        return COMMAND_GO_ON;
    }
}

static int print(const struct common *common, const struct wanted *wanted, const char *json)
{
    json_t *root = json_loads(json, 0, NULL);
    const char *state = json_string_value(json_object_get(root, "state"));
    bool gone = state && strcmp(state, "cleaned") == 0;
    char *text = common->json ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    if (common->json)
        return command_print_json(text);
    printf("%s%s: %s\n", wanted->step, wanted->flags & MCAST_BELOW ? " and below" : "",
           gone ? "no trees are left" : "accepted");
    return command_finish();
}

static int run_cleanup(const struct command *command, struct common *common, int argc, char **argv)
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
    char *json = NULL;
    int rc = command_options(command, common, argc, argv, options, store_cleanup_option, &wanted);
    if (rc == COMMAND_GO_ON)
        rc = command_no_arguments(command, argc, argv);
    if (rc == COMMAND_GO_ON && !wanted.step[0])
        rc = command_misused(command, "which step? give --step STEP");
    if (rc == COMMAND_GO_ON)
        rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    rc = mcast_cleanup_json(handle, wanted.step, wanted.flags, wanted.wait_ms, &json, &error) < 0
             ? command_failed(&error)
             : print(common, &wanted, json);
    free(json);
    mcast_close(handle);
    return rc;
}

const struct command command_cleanup = {"cleanup", "have the trees of a step removed", usage,
                                        run_cleanup};
