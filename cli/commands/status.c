/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/status/statustable.h"

static int print_status(const struct call *call, json_t *root)
{
    (void)call;
    return statustable_print(root);
}

static int run_status(struct call *call)
{
    char *json = NULL;
    int rc = mcast_status(call->handle, &json, &call->error);
    return rc < 0 ? rc : command_print_answer(call, json, print_status);
}

const struct command command_status = {
    "status", "show broker status", COMMAND_NO_ARGUMENTS, COMMAND_CONNECTED,
    NULL,     .run = run_status};
