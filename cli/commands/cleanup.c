/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

enum { WAIT_MAX_MS = 60000 };

enum { STEP, BELOW, WAIT };

static const struct command_option options[] = {
    [STEP] = {"step", ""}, [BELOW] = {"below", NULL}, [WAIT] = {"wait", "TIME"}, {0}};

static int print_state(const struct call *call, json_t *answer)
{
    const char *state = command_text(answer, "state");
    bool gone = state && strcmp(state, "cleaned") == 0;
    printf("%s%s: %s\n", call->step, call->given[BELOW] ? " and below" : "",
           gone ? "no trees are left" : "accepted");
    return command_finish();
}

static int run_cleanup(struct call *call)
{
    int64_t wait_ms = 0;
    char *json = NULL;
    int rc = command_step(call, STEP);
    if (rc == 0)
        rc = command_duration(call, WAIT, WAIT_MAX_MS, &wait_ms);
    if (rc == 0 && !call->step[0])
        rc = command_misused(call, "which step? give --step STEP");
    if (rc == 0)
        rc = mcast_cleanup_json(call->handle, call->step, call->given[BELOW] ? MCAST_BELOW : 0,
                                (unsigned)wait_ms, &json, &call->error);
    return rc < 0 ? rc : command_print_answer(call, json, print_state);
}

const struct command command_cleanup = {"cleanup",
                                        "remove a step's multicast trees",
                                        COMMAND_NO_ARGUMENTS,
                                        COMMAND_CONNECTED,
                                        options,
                                        .run = run_cleanup};
