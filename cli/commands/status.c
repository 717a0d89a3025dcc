/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/status/brokers.h"
#include "cli/status/statustable.h"

static int run_status(struct call *call)
{
    json_t *status = NULL;
    int rc = brokers_status(call, 0, &status);
    if (rc < 0)
        return rc;
    if (call->json)
        return command_print_object(status);
    rc = statustable_print(status);
    json_decref(status);
    return rc;
}

const struct command command_status = {
    "status", "show broker status", COMMAND_NO_ARGUMENTS, COMMAND_CONNECTED,
    NULL,     .run = run_status};
