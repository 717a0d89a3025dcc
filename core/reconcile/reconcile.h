/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/act.h"

/* The declarations of listing.c, missing.c, conflict.c, suspect.c and foreign.c, in this order:
 * comparing with the fabric manager, and what is not believed at once (B11). */

/* ---- listing.c: what the fabric manager lists ---- */

/* Takes in what was found at the fabric manager; NULL: it is over already. */
struct reservation *listing_take_in(struct core *core, const char *cluster, const char *job,
                                    enum job_state state, enum reservation_origin origin,
                                    const char *reason);
/* The fabric manager has this token for one that was found, and whose job is over. */
void listing_leftover(struct core *core, struct reservation *reservation, struct secret token);
/* What was found is ours. */
void listing_claim(struct core *core, struct reservation *reservation);
void listing_names(struct core *core, const struct core_event *event);
void listing_done(struct core *core, const struct core_event *event);

/* ---- missing.c: what should be there and is not ---- */

/* The fabric manager says of one that should be there that there is none, or one with another
 * token. May end as `lost`. */
void missing_said_gone(struct core *core, struct reservation *reservation, bool other_token);
/* It is there, or need not be there any more. */
void missing_forget(struct core *core, struct operation *op);
/* A list was read whole, and operation->listed says what it named. */
void missing_compare(struct core *core);
bool missing_wants_list(const struct core *core); /* a second one concludes something */
void missing_watch(struct core *core);            /* raises the alarm or ends it */
void core_accept_loss(struct core *core, const struct core_event *event);

/* ---- conflict.c: another broker may use our names ---- */

/* There is something under a name of ours that may be another broker's. */
void conflict_raise(struct core *core, const char *cluster, const char *job, const char *why);
void conflict_resume(struct core *core); /* after a restart */
void conflict_watch(struct core *core);  /* after a whole list: ends alarms whose cause is gone */
void core_claim(struct core *core, const struct core_event *event);

/* ---- suspect.c: the ledger may lack running jobs ---- */

/* Free VNIs are not given out for a while. */
void suspect_begin(struct core *core, const char *cluster, const char *job, const char *why);
void suspect_resume(struct core *core); /* after a restart */
void suspect_watch(struct core *core);  /* ends it when its time has come */
int64_t suspect_deadline(const struct core *core);

/* ---- unknownlife.c: what only nodes know of ---- */

/* Its name: nothing takes it for the job's newest life. */
void unknown_life_name(char out[static JOB_ID_MAX + 1], const char *job, uint64_t number);
/* Of the event, a node's report. NULL: nothing can be quarantined. */
struct reservation *unknown_life_take_in(struct core *core, const struct core_event *event);
/* VNIs of one that was taken in, which another job had then and has no more. */
void unknown_life_keep_vnis(struct core *core, struct reservation *reservation,
                            const struct core_event *event);

/* ---- foreign.c: VNIs of other partitions ---- */

void core_partitions(struct core *core, const struct core_event *event);
