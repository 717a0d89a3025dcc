/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Where a step learns what its job was granted: from the file that a Prolog left on this node, and
 * where there is none, from mcastctl and mcast-node. */

#include "deploy/slurm/spank/grant.h"
#include "deploy/slurm/spank/settings.h"

enum { FETCH_SAID_SIZE = 256 };

struct fetch {
    const struct settings *settings;
    const char *cluster, *node; /* "": not known */
    uint32_t job;
    const char *step;
    int64_t deadline_ms; /* of program_now_ms */
};

/* What is known afterwards; what is not known is not in the grant either. */
struct fetched {
    bool collectives, services; /* FI_CXI_* and those of Omni-Path, SLINGSHOT_* */
    /* Why not, for people, "" for nothing to say. no_services: only where the job is to have some
     * and cannot use them. */
    char no_collectives[FETCH_SAID_SIZE], no_services[FETCH_SAID_SIZE];
};

/* As the user: reads as the effective one. */
void fetch_grant(const struct fetch *fetch, struct grant *grant, struct fetched *fetched);

/* Only what the broker knows, FI_CXI_* and those of Omni-Path. */
void fetch_collectives(const struct fetch *fetch, struct grant *grant, struct fetched *fetched);

/* Why the job has no hardware collectives, as the broker tells its owner; said is left as it was
 * where that cannot be asked, or says nothing. */
void fetch_reason(const struct fetch *fetch, char said[FETCH_SAID_SIZE]);

/* At the end of srun, which stays as long as a task of the step runs on any node: the trees of the
 * step are to go, in the background (F19). Comes back at once; what goes on is no child of this
 * process. It takes what Prolog left on this node; where there is none, it asks the broker as this
 * user. */
void fetch_clean_up(const struct fetch *fetch);
