/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CORE_CLOCK_H
#define MCAST_CORE_CLOCK_H

#include "core/state.h"

/* At the start: whether times in the ledger can be compared with now. */
void clock_compare(struct core *core);
void core_keep_clock(struct core *core); /* VNIs are about to be quarantined */

#endif
