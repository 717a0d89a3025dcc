/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Services that are in use when their job is over (F9).
 *
 * Only its owner can use a service. What is left of a job that ended is the resource manager's to
 * kill, and where that fails the node is to be drained. But what another of the owner's jobs here
 * uses is no fault of the node: he could have it drained at will, with the jobs of others on it. So
 * then it is left, and tried again when he has no job here any more, or sooner. It is reported as
 * lingering, so that its VNIs stay quarantined, and no prolog here uses one of them (I3). */

#include "node/node.h"

/* Of a note that lingers: COMMAND_IN_USE, after a message, when it is only in use and its owner has
 * another job here, as this node remembers or node->users says; else COMMAND_BUSY. */
int remainder_judge(struct node *node, const struct note *note);

/* Of whose earlier jobs it is tried. A user can leave many: a hook tries a few, those that were not
 * tried for the longest. */
enum remainder_scope {
    REMAINDER_OF_OWNER, /* epilog: none of other users' */
    REMAINDER_DUE,      /* housekeeping, which delays no job: then others' that are due */
    REMAINDER_ALL,      /* tend */
};

/* Tries once more to destroy what lingers of jobs whose hooks are through, reports what has
 * changed, and says in one line what is left. Leaves out what another process works on, and what is
 * postponed in node->notes. uid: the owner. COMMAND_DONE; or, of what is still there, COMMAND_BUSY
 * before COMMAND_IN_USE. */
int remainder_retry(struct node *node, enum remainder_scope scope, uint32_t uid);

/* Whether it is a list of user ids, such as "1000,1001" or lines of them. */
bool remainder_users_valid(const char *users);

/* How much of this node one owner may hold by services of jobs that are over, as others' jobs need
 * the rest (F9, F10): jobs, and one part in so many of each resource of a NIC. */
enum { REMAINDER_JOBS_MAX = 4, REMAINDER_PART = 8 };

/* ERROR_FULL: the claim's owner has more, which is no fault of the node. */
int remainder_check(const struct notes *notes, const struct nics *nics, const struct claim *claim,
                    struct error *err);
