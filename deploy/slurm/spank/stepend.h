#ifndef MCAST_DEPLOY_SLURM_SPANK_STEPEND_H
#define MCAST_DEPLOY_SLURM_SPANK_STEPEND_H

/* At the end of srun: the trees of its step are to go, and nobody waits for it (F19). srun is there
 * that long as a task of the step runs on any node, which no node knows of the others. */

#include "deploy/slurm/spank/settings.h"

#include <stdint.h>

enum { STEPEND_PARTS_MAX = 16 };

/* One step, in each part of a heterogeneous job that it has. */
struct stepend {
    const struct settings *settings;
    const char *cluster; /* "": not known */
    uint32_t step;
    unsigned int count;
    uint32_t jobs[STEPEND_PARTS_MAX];
};

/* Comes back at once; what goes on is no child of this process. It takes the token that is in the
 * environment, or, for parts whose token is not, asks the broker as this user. */
void stepend_clean(const struct stepend *stepend);

#endif
