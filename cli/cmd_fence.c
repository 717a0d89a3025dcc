#include "cli/command.h"

#include <jansson.h>
#include <stdio.h>

static const char usage[] =
    "Usage: mcastctl fence --reason TEXT NODE\n"
    "Vouches for a node that does not report any more: nothing on it uses the VNIs of jobs that\n"
    "are over, as it is switched off, or was started anew. Their VNIs are then no longer held\n"
    "back for it, in any cluster; jobs that are still active are not touched. For administrators\n"
    "only: VNIs of a node that still runs something are given to other jobs, and their traffic\n"
    "mixes. What waits for which node shows 'mcastctl list --held'.\n\n"
    "  --reason TEXT    one line, kept in the broker's log and events\n\n"
    "Example:\n"
    "  mcastctl fence --reason 'powered off, board swapped' elcap17\n";

static int take(int option, const char *value, void *data)
{
    if (option == 'r')
        *(const char **)data = value;
    return COMMAND_GO_ON;
}

static int print(const struct common *common, const char *node, uint64_t count)
{
    if (common->json) {
        json_t *root = json_pack("{s:s,s:I}", "node", node, "reservations", (json_int_t)count);
        char *text = json_dumps(root, JSON_INDENT(2));
        json_decref(root);
        return command_print_json(text);
    }
    printf("%s: %llu reservation%s no longer wait%s for it\n", node, (unsigned long long)count,
           count == 1 ? "" : "s", count == 1 ? "s" : "");
    return command_finish();
}

static int run(const struct command *command, struct common *common, int argc, char **argv)
{
    static const struct option options[] = {{"reason", required_argument, NULL, 'r'}, {0}};
    struct mcast *handle = NULL;
    struct mcast_error error;
    const char *reason = NULL;
    uint64_t count = 0;
    int rc = command_options(command, common, argc, argv, options, take, &reason);
    if (rc == COMMAND_GO_ON && argc - optind != 1)
        rc = command_misused(command, "which node? name exactly one");
    if (rc == COMMAND_GO_ON && !reason)
        rc = command_misused(command, "why? give --reason TEXT");
    if (rc == COMMAND_GO_ON)
        rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    rc = mcast_fence(handle, argv[optind], reason, &count, &error) < 0
             ? command_failed(&error)
             : print(common, argv[optind], count);
    mcast_close(handle);
    return rc;
}

const struct command command_fence = {"fence", "vouch for a node that does not report", usage, run};
