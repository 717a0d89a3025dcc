/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/effects.h"

void core_act(struct core *core, struct reservation *reservation);
/* All lives of a job: what one of them waited for may have come. */
void core_act_on_lives(struct core *core, const char *cluster, const char *job);
/* What came of a call (CORE_CALL_DONE): fabric/call_done.c. */
void core_call_done(struct core *core, const struct core_event *event);
int64_t core_retry_wait(uint32_t tries); /* after so many failures in a row */
void core_pump(struct core *core);       /* hands out calls while there are places */
/* The outcome of wanting multicast addresses is known: saves it, answers those who wait. */
void core_settle(struct core *core, struct reservation *reservation, enum hwcoll_state hwcoll,
                 enum fm_side side, struct secret token, const char *reason);
/* What may be there of one that is not wanted any more. "Held", said of what was in its way, would
 * hide from the next start that a first try of its own may yet be acted on (docs/model found it).
 */
enum fm_side core_side_unwanted(const struct reservation *reservation);
/* What an answer has to warn of although it is a yes, the same each time it is given; or NULL. */
const char *core_warning(struct core *core, const struct reservation *reservation);
/* Which event reports a reserve that ended so. */
enum event_kind core_event_of(enum hwcoll_state hwcoll);
/* Those that wait for addresses look again, if there may be room now. */
void core_act_on_freed(struct core *core);
/* The fabric manager has given up the reservation. */
void core_released_at_fm(struct core *core, struct reservation *reservation);
/* Gives up waiting for the fabric manager (F21). */
void core_give_up(struct core *core, struct reservation *reservation, enum hwcoll_state hwcoll,
                  const char *reason);
