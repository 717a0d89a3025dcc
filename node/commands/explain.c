/* SPDX-License-Identifier: Apache-2.0 */
#include "node/commands/command.h"
#include "node/services/fit.h"

#include <stdio.h>
#include <string.h>

/* How many resources of the NIC fall short. */
static unsigned int explain_nic(struct node *node, const struct nic *nic,
                                const struct cxi_rsrc_limits *want)
{
    struct fit fit;
    char text[FIT_TEXT_SIZE];
    unsigned int shortages = 0;
    if (nic->failure < 0) {
        printf("%s: it cannot be asked for its services: %s\n", nic->name, strerror(-nic->failure));
        return 1;
    }
    fit_compute(&fit, want, nic, fit_count_pools(nic));
    for (int i = 0; i < LIMITS_COUNT; i++) {
        if (!fit_lacks(&fit, limits_resources[i].type))
            continue;
        puts(fit_explain(&fit, &limits_resources[i], !node->settings.adjust_limits, nic,
                         node_job_of, node, text));
        shortages++;
    }
    return shortages;
}

static int run_explain(struct node *node, const struct command_options *options)
{
    struct cxi_rsrc_limits want;
    struct error err;
    unsigned int shortages = 0, count;
    command_limits(node, options);
    if (node_find_nics(node, &err) < 0)
        return command_failed(&err);
    count = node->nics.count;
    limits_want(&node->settings.limits, options->cores, &want);
    for (unsigned int i = 0; i < count; i++)
        shortages += explain_nic(node, &node->nics.at[i], &want);
    if (count < node->settings.min_nics) {
        printf("the node has %u NICs, and a job with VNIs needs at least %u here (node.conf: "
               "min_nics)\n",
               count, node->settings.min_nics);
        shortages++;
    }
    if (shortages == 0)
        printf("a job of %u cores gets all that it wants on %u NIC%s\n", options->cores, count,
               count == 1 ? "" : "s");
    return shortages > 0 ? COMMAND_REFUSED : COMMAND_DONE;
}

const struct command command_explain = {"explain", "why a job would not fit", "c!w", SPOOL_READ,
                                        run_explain};
