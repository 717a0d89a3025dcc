/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the broker, or a file, says of reservations: whose VNIs a job has, and which jobs are
 * active, which clean must not touch (F11). */

#include "base/idset.h"
#include "node/commands/command.h"

/* The job's, from --reservation ("-": standard input), else from the broker. COMMAND_GO_ON with
 * *claim, or the exit code after a message. quiet: no reservation is needed, so that there is no
 * message for COMMAND_NOT_FOUND, nor is a broker that is away waited for. */
int reservation_fetch(struct node *node, const struct command_options *options, bool quiet,
                      struct claim *claim);

enum reservation_state {
    RESERVATION_ACTIVE,
    RESERVATION_OVER,     /* released */
    RESERVATION_UNKNOWN,  /* the broker knows no such job: it is over, or the broker has lost it */
    RESERVATION_NO_ANSWER /* the broker did not say: *rc is the exit code, after a message */
};

enum reservation_state reservation_ask(struct node *node, const struct claim *claim, int *rc);

/* The VNIs of all active jobs that can have services on this node. */
struct active_vnis {
    struct idset vnis;
    char unknown[CLAIM_NAME_SIZE]; /* an active job whose VNIs the broker does not know, or "" */
};

/* Asks for all as an admin, else for what may run on this node, and as the cluster's manager for
 * all of that. COMMAND_GO_ON, or an exit code after a message: when the broker does not answer, or
 * does not show all that may be here, no service can be known to be a leftover. */
int reservation_load_active(struct node *node, struct active_vnis *active);
