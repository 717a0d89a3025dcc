/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Whether the broker knows the cluster of this host's Slurm, and takes the caller for its resource
 * manager. */

#include "cli/doctor/findings.h"

struct manager {
    const char *cluster;   /* as mcastd calls it */
    const char *hooks;     /* the folder of mcastd's hooks */
    const char *user;      /* SlurmUser, "slurm(64030)"; "": not known */
    bool controller, node; /* what runs on this host */
};

/* whoami, status: the broker's answers; NULL: none. */
void manager_judge(struct findings *findings, const struct manager *manager, const json_t *whoami,
                   const json_t *status);
