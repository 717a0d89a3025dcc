/* SPDX-License-Identifier: Apache-2.0 */
#include "node/commands/command.h"
#include "node/services/fit.h"
#include "node/services/limits.h"
#include "node/say.h"

#include <string.h>

static const char usage[] =
    "Usage: mcast-node explain --cores N [--limits WISHES]\n"
    "Says what a job with N cores on this node would not get of what it wants, NIC by NIC, and\n"
    "which services hold it. Such a job runs all the same, with what is free, unless\n"
    "adjust_limits is no. Exit status 1 says that something is missing. Needs no privilege.\n\n"
    "  --cores N        the job's cores on this node\n"
    "  --limits WISHES  the job's own wishes, as for prolog, and with its warnings\n\n"
    "Example:\n"
    "  mcast-node explain --cores 96\n";

struct wanted {
    const char *wishes;
    uint32_t cores;
};

static int read_explain_option(int option, const char *value, void *data)
{
    struct wanted *wanted = data;
    if (option == 'c')
        return command_cores(&command_explain, value, &wanted->cores);
    wanted->wishes = value;
    return COMMAND_GO_ON;
}

/* How many resources of the NIC fall short. */
static unsigned int explain_nic(struct node *node, const struct nic *nic,
                                const struct cxi_rsrc_limits *want)
{
    struct fit fit;
    char text[FIT_TEXT_SIZE];
    fit_compute(&fit, want, &nic->info, nic->services, fit_count_pools(nic->services));
    for (unsigned int i = 0; i < fit.shortage_count; i++) {
        fit.shortages[i].refused = !node->settings.adjust_limits;
        printf("%s\n",
               fit_explain(&fit.shortages[i], &nic->info, nic->services, node_job_of, node, text));
    }
    return fit.shortage_count;
}

static int explain(struct node *node, uint32_t cores)
{
    struct cxi_rsrc_limits want;
    struct error err;
    unsigned int shortages = 0;
    if (node_remember(node, false, &err) < 0 || node_find_nics(node, &err) < 0)
        return command_failed(&err);
    limits_want(&node->settings.limits, cores, &want);
    for (unsigned int i = 0; i < node->nics.count; i++) {
        const struct nic *nic = &node->nics.at[i];
        if (nic->failure < 0) {
            printf("%s: it cannot be asked for its services: %s\n", nic->name,
                   strerror(-nic->failure));
            shortages++;
        } else {
            shortages += explain_nic(node, nic, &want);
        }
    }
    if (node->nics.count < node->settings.min_nics) {
        printf("the node has %u NICs, and a job with VNIs needs at least %u here (node.conf: "
               "min_nics)\n",
               node->nics.count, node->settings.min_nics);
        shortages++;
    }
    if (shortages == 0)
        printf("a job of %u cores gets all that it wants on %u NIC%s\n", cores, node->nics.count,
               node->nics.count == 1 ? "" : "s");
    return shortages > 0 ? COMMAND_REFUSED : COMMAND_DONE;
}

static int run_explain(const struct command *command, struct node *node, int argc, char **argv)
{
    static const struct option options[] = {
        {"cores", required_argument, NULL, 'c'}, {"limits", required_argument, NULL, 'w'}, {0}};
    struct wanted wanted = {0};
    int rc = command_options(command, node, argc, argv, options, read_explain_option, &wanted);
    if (rc == COMMAND_GO_ON && wanted.cores == 0)
        rc = command_misused(command, "--cores N is required");
    if (rc == COMMAND_GO_ON) {
        command_wishes(node, wanted.wishes);
        rc = explain(node, wanted.cores);
    }
    return command_end(node, rc);
}

const struct command command_explain = {"explain", "why a job would not fit", usage, run_explain};
