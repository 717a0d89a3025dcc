/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"

/* mcastctl traffic --live: what the NICs of a running job's nodes count now. The broker does not
 * reach nodes: the resource manager runs mcast-node there. */

struct live {
    const char *through; /* "slurm", "flux"; NULL: as the environment says */
    int64_t every_ms;
};

/* Until the job is over, or Ctrl-C. An exit code, or a negative code with call->error. */
int live_run(struct call *call, const struct live *live);
