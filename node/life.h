/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_NODE_LIFE_H
#define MCAST_NODE_LIFE_H

/* One life of a job on this node: all of its services are made, or none; and they are destroyed.
 *
 * The caller has the job's lock (life_lock): only one process at a time asks the broker for a
 * job, makes or destroys its services, or reports them. So the broker never gets "destroyed" after
 * another process made them again; and a slow prolog that gets the lock after the epilog learns
 * that the job is over. */

#include "node/services/destroy.h"
#include "node/node.h"

/* Of all lives of a job. 0, or negative. Waits for the lock. */
int life_lock(struct node *node, const char *cluster, const char *job, struct error *err);
/* False: another process has it. */
bool life_try_lock(struct node *node, const struct claim *claim);
void life_unlock(struct node *node, const struct claim *claim);

/* Makes a service on every NIC that has none of the job's, with a warning for what had to be scaled
 * back (F7). Fills and keeps the note. If it cannot be done everywhere, everything of the job's
 * is destroyed again as far as it can be (F10), and the note says so; negative, err says why not.
 * ERROR_FULL: it is this job that cannot have here what it is to have; else the node is at fault.
 */
int life_create(struct node *node, const struct claim *claim, uint32_t cores, struct note *note,
                struct error *err);

/* Destroys what is the job's, for as long as budget_ms while it is busy, and keeps the note: GONE
 * or LINGERING, and then whether that is only because it is in use (stuck). known: the note was
 * here before, so something may have been made. Says what is left, and why. Negative when the note
 * cannot be kept, or the NICs cannot be asked and nothing is known. Nothing of another life is
 * touched: what a note says is another's is not taken for this one's. */
int life_destroy(struct node *node, struct note *note, bool known, int64_t budget_ms,
                 struct error *err);

/* Tries once more, of a note that lingers, and says nothing: what is left is in *left. That it
 * still lingers is not owed to the broker again. */
int life_retry(struct node *node, struct note *note, struct destroy_result *left,
               struct error *err);

/* What is left, why, and by which processes it is used, for people. Returns out. */
enum { LIFE_LEFT_TEXT_SIZE = 640 };
const char *life_describe_left(struct node *node, const struct note *note,
                               const struct destroy_left *left, char out[LIFE_LEFT_TEXT_SIZE]);

/* Whether the node itself says that the job runs: no epilog has been here, and its owner has a
 * process here. What the broker does not know of it may be the broker's loss. */
bool life_may_run(const struct note *note);

/* The job's service on the NIC, or NULL; not one that is said to be another life's. */
const struct cxi_svc_desc *life_service(const struct node *node, const struct claim *claim,
                                        const struct nic *nic);

/* What life_create would do, and life_destroy, on standard output. Negative as they are. */
int life_plan_create(struct node *node, const struct claim *claim, uint32_t cores,
                     struct error *err);
int life_plan_destroy(struct node *node, const struct note *note, struct error *err);

/* A note of a claim as it would be before anything is made. */
void life_intend(const struct node *node, const struct claim *claim, struct note *note);

#endif
