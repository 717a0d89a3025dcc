/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Reports notes to the broker, now or when it can be reached again (F3). */

#include "node/node.h"

enum report_fate {
    REPORT_TAKEN,    /* the broker has it, or has nothing to wait for any more */
    REPORT_KEPT,     /* it could not be delivered, or the broker does not accept this node's
                        identity (401, 403); the next run tries again */
    REPORT_NOT_OURS, /* "created" came too late: the VNIs are not the job's; destroy at once */
    REPORT_UNKNOWN,  /* the broker does not know the reservation: destroy, unless the job runs */
    REPORT_REFUSED,  /* the broker will never accept it, which is logged; it is not kept */
};

/* Sends one note's state if that is owed, and keeps the note accordingly. The caller has the job's
 * lock. error: why it was not taken. */
enum report_fate report_send(struct node *node, struct note *note, struct mcast_error *error);

/* After REPORT_UNKNOWN: whether the job may run here all the same (jobsvc_may_run), as a broker can
 * lose its ledger. Then it is said, the report is not owed any more, and the services stay until
 * the job's epilog. The caller has the job's lock. */
bool report_spare(struct node *node, struct note *note, const struct mcast_error *error);

/* Sends, if that is owed, that nothing of before this boot is here: TAKEN, KEPT or REFUSED. Once it
 * is taken, notes of before whose last state the broker has are removed. */
enum report_fate report_boot(struct node *node, struct mcast_error *error);

/* Says that it was kept: of which job, and why. */
void report_say_kept(const struct note *note, const struct mcast_error *error);

/* Sends what other reservations than `except` owe, oldest first, until the broker does not answer
 * or it was enough for one run; leaves out what another process works on. What was here before the
 * boot is reported as gone. Destroys the services of which the broker says that they are not the
 * job's any more, but for jobs that may run. */
void report_spool(struct node *node, uint64_t except);
