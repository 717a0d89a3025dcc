/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "Usage: mcastctl fence --reason TEXT NODE\n"
    "Declares an unresponsive node clean: nothing on it uses the VNIs of jobs that are over,\n"
    "because it is switched off or was restarted. Their VNIs are then no longer quarantined for\n"
    "it, in any cluster; active jobs are not changed. For administrators only: if the node still\n"
    "runs something, its VNIs are assigned to other jobs, and their traffic mixes.\n"
    "'mcastctl list --held' shows which VNIs wait for which node. For a job that was reserved\n"
    "without a node list the silent nodes are not known: fence has no effect on it, and its VNIs\n"
    "stay quarantined until the time is over. Reserve jobs with a node list.\n\n"
    "  --reason TEXT    one line, kept in the broker's log and events\n\n"
    "Example:\n"
    "  mcastctl fence --reason 'powered off, board swapped' elcap17\n";

static int store_fence_option(int option, const char *value, void *data)
{
    if (option == 'r')
        *(const char **)data = value;
    return COMMAND_GO_ON;
}

static void print_words(const json_t *root, const char *node)
{
    json_int_t count = json_integer_value(json_object_get(root, "reservations"));
    json_int_t active = json_integer_value(json_object_get(root, "active"));
    printf("%s: %" JSON_INTEGER_FORMAT " reservation%s no longer wait%s for it\n", node, count,
           count == 1 ? "" : "s", count == 1 ? "s" : "");
    if (active > 0)
        printf("%s: %" JSON_INTEGER_FORMAT " active job%s on it %s not touched\n", node, active,
               active == 1 ? "" : "s", active == 1 ? "is" : "are");
    if (json_is_false(json_object_get(root, "known")))
        fprintf(stderr,
                "mcastctl: warning: no cluster's nodes and no reservation has %s: is the name "
                "right? mcastctl list --held shows who waits for whom\n",
                node);
}

static int print(const struct common *common, const char *node, const char *text)
{
    json_t *root = json_loads(text, 0, NULL);
    char *indented = common->json ? json_dumps(root, JSON_INDENT(2)) : NULL;
    if (!common->json)
        print_words(root, node);
    json_decref(root);
    return common->json ? command_print_json(indented) : command_finish();
}

static int run_fence(const struct command *command, struct common *common, int argc, char **argv)
{
    static const struct option options[] = {{"reason", required_argument, NULL, 'r'}, {0}};
    struct mcast *handle = NULL;
    struct mcast_error error;
    const char *reason = NULL;
    char *json = NULL;
    int rc = command_options(command, common, argc, argv, options, store_fence_option, &reason);
    if (rc == COMMAND_GO_ON && argc - optind != 1)
        rc = command_misused(command, "which node? name exactly one");
    if (rc == COMMAND_GO_ON && !reason)
        rc = command_misused(command, "why? give --reason TEXT");
    if (rc == COMMAND_GO_ON)
        rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    rc = mcast_fence_json(handle, argv[optind], reason, &json, &error) < 0
             ? command_failed(&error)
             : print(common, argv[optind], json);
    free(json);
    mcast_close(handle);
    return rc;
}

const struct command command_fence = {"fence", "declare an unresponsive node clean", usage,
                                      run_fence};
