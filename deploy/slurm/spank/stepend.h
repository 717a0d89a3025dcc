/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_DEPLOY_SLURM_SPANK_STEPEND_H
#define MCAST_DEPLOY_SLURM_SPANK_STEPEND_H

/* At the end of srun: the trees of its step are to go, in the background (F19). srun stays as
 * long as a task of the step runs on any node, which no node knows of the others. */

#include "deploy/slurm/spank/settings.h"

#include <stdint.h>

struct stepend {
    const struct settings *settings;
    const char *cluster; /* "": not known */
    uint32_t job, step;
};

/* Comes back at once; what goes on is no child of this process. It takes the job's token that is in
 * the environment; where there is none, or another job's, it asks the broker as this user. */
void stepend_clean(const struct stepend *stepend);

#endif
