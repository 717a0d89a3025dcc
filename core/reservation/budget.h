/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CORE_RESERVATION_BUDGET_H
#define MCAST_CORE_RESERVATION_BUDGET_H

#include "core/state.h"

/* Whether so many more addresses may be asked for: now, when what is being released is gone, no. */
enum budget { BUDGET_NOW, BUDGET_SOON, BUDGET_NONE };
enum budget core_budget(struct core *core, const char *cluster, uint32_t addresses);
const char *core_budget_words(struct core *core, const char *cluster, uint32_t addresses);

#endif
