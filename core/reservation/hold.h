/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/act.h"

/* How long the VNIs of a released job are quarantined (F3, I1). */

/* Whether each node has reported that nothing of the job is left there, so that its VNIs can do no
 * harm; whether one has reported that it has services, which time does not end (F3). */
bool hold_all_clean(const struct reservation *reservation);
bool hold_has_services(const struct reservation *reservation);

/* At the start: whether times in the ledger can be compared with now. */
void hold_compare_clock(struct core *core);
void hold_keep_clock(struct core *core); /* VNIs are about to be quarantined */
