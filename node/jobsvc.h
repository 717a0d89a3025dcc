/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The services of one reservation of a job on this node: all of them are made, or none; and they
 * are destroyed. A job that is requeued has a new reservation under the same id.
 *
 * The caller has the job's lock: only one process at a time asks the broker for a job, makes or
 * destroys its services, or reports them. So the broker never gets "destroyed" after another
 * process made them again; and a slow prolog that gets the lock after the epilog learns that the
 * job is over. */

#include "node/node.h"
#include "node/services/service.h"

/* Of all reservations of a job. 0, or negative. Waits for the lock. */
int jobsvc_lock(struct node *node, const char *cluster, const char *job, struct error *err);
/* False: another process has it. */
bool jobsvc_try_lock(struct node *node, const struct claim *claim);
void jobsvc_unlock(struct node *node, const struct claim *claim);

/* Whether a note says that the claim's number is another job's, and what to do: its services are
 * not to be taken for the claim's, nor the note to be lost (B11). */
bool jobsvc_is_of_another(const struct node *node, const struct claim *claim, struct error *err);

/* A note of a claim as it would be before anything is made. */
void jobsvc_intend(const struct node *node, const struct claim *claim, struct note *note);

/* Makes a service on every NIC that has none of the job's, with a warning for what had to be scaled
 * back (F7). Fills and keeps the note. If it cannot be done everywhere, everything of the job's is
 * destroyed again as far as it can be (F10), and the note says so; negative then. ERROR_FULL: it is
 * this job that cannot have here what it is to have; else the node is at fault. */
int jobsvc_create(struct node *node, const struct claim *claim, uint32_t cores, struct note *note,
                  struct error *err);

struct jobsvc_end {
    bool known;                 /* the note was here before: something may have been made */
    bool undo;                  /* the note is INTENDED when none is left, and not GONE */
    int64_t busy_ms;            /* how long to try while it is busy */
    struct services_left *left; /* gets what is left, and nothing is said; NULL: that is said */
};

/* Destroys what is the job's, and keeps the note: GONE or LINGERING. Negative when the note cannot
 * be kept, or the NICs cannot be asked and nothing is known. Nothing of which a note says that it
 * is another reservation's is touched. */
int jobsvc_destroy(struct node *node, struct note *note, const struct jobsvc_end *end,
                   struct error *err);

/* What is left, why, and by which processes it is used, for people. Returns out. */
enum { JOBSVC_LEFT_TEXT_SIZE = 640 };
const char *jobsvc_describe_left(struct node *node, const struct note *note,
                                 const struct service_left *left, char out[JOBSVC_LEFT_TEXT_SIZE]);

/* Whether the node itself says that the job runs: no epilog has been here, and its owner has a
 * process here. What the broker does not know of it may be the broker's loss. */
bool jobsvc_may_run(const struct note *note);

/* The job's service on the NIC, or NULL; not one that a note gives to another reservation. */
const struct cxi_svc_desc *jobsvc_on(const struct node *node, const struct claim *claim,
                                     const struct nic *nic);

/* What jobsvc_create and jobsvc_destroy would do, on standard output. Negative as they are. */
int jobsvc_plan_create(struct node *node, const struct claim *claim, uint32_t cores,
                       struct error *err);
int jobsvc_plan_destroy(struct node *node, const struct note *note, struct error *err);
