/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/act.h"

/* The declarations of reserve.c, profile.c, release.c, nodereport.c, fence.c, nicsreport.c,
 * cleanup_ask.c and share.c, in this order: what the edges ask for, each answered once. */

void core_reserve(struct core *core, const struct core_event *event);
void core_alive(struct core *core, const struct core_event *event);

/* Fills in what a request leaves to the profile that it names. NULL; or why there is none for it:
 * then the text lives until the next step. */
const char *profile_resolve(struct core *core, struct reserve_request *request);

/* A launch document is to be made of a job's newest reservation. */
void core_launch(struct core *core, const struct core_event *event);

void core_release(struct core *core, const struct core_event *event);
void core_begin_release(struct core *core, struct reservation *reservation, const char *why);

/* The reservation is granted once more: which life its nodes report of cannot be told then. */
void core_granted_again(struct core *core, struct reservation *reservation);
void core_node_report(struct core *core, const struct core_event *event);
void core_node_sum(struct core *core, const struct core_event *event);
/* What the record says of one node of the reservation is true now. */
void core_save_node_report(struct core *core, struct reservation *reservation,
                           const struct node_record *record);
void core_fence(struct core *core, const struct core_event *event);
void core_node_boot(struct core *core, const struct core_event *event);
void core_nics_report(struct core *core, const struct core_event *event);
void core_nics_forget(struct core *core, const struct core_event *event);

void core_cleanup(struct core *core, const struct core_event *event);
void core_steps(struct core *core, const struct core_event *event);

void core_share(struct core *core, const struct core_event *event);
void core_unshare(struct core *core, const struct core_event *event);
/* Closes shared VNIs whose time is over, and ends those that no job has any more; when that is due.
 */
void shared_settle(struct core *core);
int64_t shared_deadline(const struct core *core);
