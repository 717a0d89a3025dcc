/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/act.h"

/* How long the VNIs of a released job are quarantined (F3, I1). */

/* Whether each node has reported that nothing of the job is left there, so that its VNIs can do no
 * harm; whether one has reported that it has services, which time does not end (F3). */
bool quarantine_all_clean(const struct reservation *reservation);
bool quarantine_has_services(const struct reservation *reservation);

/* At the start: whether times in the ledger can be compared with now. */
void quarantine_compare_clock(struct core *core);
/* VNIs are about to be quarantined, or a partition key kept for a while (S4). */
void quarantine_save_clock(struct core *core);
