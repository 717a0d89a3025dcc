/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/emit.h"

/* What has to be done for a reservation now, by its state alone. Idempotent. It may end the
 * reservation: who goes on with it looks it up by its number. */

void core_act(struct core *core, struct reservation *reservation);
/* All lives of a job: what one of them waited for may have come. */
void core_act_on_lives(struct core *core, const char *cluster, const char *job);

/* No answer tells what came of a RESERVE for it. For an hour, what is listed under its name may be
 * of that; after a restart its events tell so (PROOF_UNANSWERED). */
void core_note_unanswered(struct core *core, struct reservation *r);
bool core_unanswered(const struct core *core, const char *cluster, const char *job);
/* Acts on those that wait for addresses, if there may be room now. */
void core_act_on_freed_addresses(struct core *core);
/* Hands out calls of the fabric manager while there are places. */
void core_begin_calls(struct core *core);

/* The outcome of wanting multicast addresses is known: saves it, answers those who wait, acts. */
void core_finish_reserve(struct core *core, struct reservation *reservation,
                         enum hwcoll_state hwcoll, enum fm_side side, struct secret token,
                         const char *reason);
/* Gives up waiting for the fabric manager (F21). reason NULL: found out here. */
void core_give_up(struct core *core, struct reservation *reservation, enum hwcoll_state hwcoll,
                  const char *reason);
/* What may be there of one that is not wanted any more. "There", said of what was in its way, would
 * hide from the next start that a first try of its own may yet be acted on (docs/model found it).
 */
enum fm_side core_side_unwanted(const struct reservation *reservation);
/* What an answer has to warn of although it is a yes, the same each time it is given; or NULL. */
const char *core_warning(struct core *core, const struct reservation *reservation);
/* Which event reports a reserve that ended so. */
enum event_kind core_outcome_event(enum hwcoll_state hwcoll);
