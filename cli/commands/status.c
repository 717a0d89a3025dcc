/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/status/brokers.h"
#include "cli/status/statustable.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* To who looks at it; programs wait as long as for anything. */
enum { ANSWER_MS = 5000 };

static void warn_of_cluster(const struct call *call, const json_t *status)
{
    const json_t *clusters = json_object_get(status, "clusters"), *cluster;
    size_t i;
    json_array_foreach(clusters, i, cluster)
    {
        const char *name = command_text(cluster, "name");
        if (name && strcmp(name, call->cluster) == 0)
            return;
    }
    if (json_array_size(clusters) > 0)
        fprintf(stderr, "mcastctl: there is no cluster %.80s; the status is of all clusters\n",
                call->cluster);
}

static int run_status(struct call *call)
{
    json_t *status = NULL;
    int rc = brokers_status(call, isatty(STDOUT_FILENO) ? ANSWER_MS : 0, &status);
    if (rc < 0)
        return rc;
    if (call->cluster)
        warn_of_cluster(call, status);
    if (call->json)
        return command_print_object(status);
    rc = statustable_print(status);
    json_decref(status);
    return rc;
}

const struct command command_status = {
    "status", "show broker status", COMMAND_NO_ARGUMENTS, COMMAND_CONNECTED,
    NULL,     .run = run_status};
