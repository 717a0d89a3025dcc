/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_NODE_RECORD_STANDING_H
#define MCAST_NODE_RECORD_STANDING_H

/* Which jobs the broker calls active: what clean must not touch (F11). */

#include "base/idset.h"
#include "node/node.h"

enum standing_of_job {
    STANDING_ACTIVE,
    STANDING_OVER,    /* released */
    STANDING_NO_JOB,  /* the broker knows no such job: it is over, or the broker has lost it */
    STANDING_UNKNOWN, /* the broker did not say: *rc is the exit code, after a message */
};

/* Of one life of one job. */
enum standing_of_job standing_ask(struct node *node, const struct claim *claim, int *rc);

/* The VNIs of all active jobs that can have services on this node. */
struct standing {
    struct idset vnis;
    char unknown[CLAIM_NAME_SIZE]; /* an active job whose VNIs the broker does not know, or "" */
};

/* Asks for all as an admin, else for what may run on this node, and as the cluster's manager for
 * all of that. COMMAND_GO_ON, or an exit code after a message: when the broker does not answer, or
 * does not show all that may be here, no service can be known to be a leftover. */
int standing_load(struct standing *standing, struct node *node);

/* Whether the service may use a VNI of an active job. */
bool standing_is_active(const struct standing *standing, const struct cxi_svc_desc *service);

#endif
