/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/state.h"

/* What came of a call of the fabric manager. */

void core_call_done(struct core *core, const struct core_event *event);
/* The fabric manager has given up the reservation. */
void core_released_at_fm(struct core *core, struct reservation *reservation);
int64_t core_retry_wait(uint32_t tries); /* after so many failures in a row */
