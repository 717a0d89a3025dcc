/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/config.h"
#include "core/reservation/record.h"

/* How many multicast addresses a job gets, which jobs get any (F14, F15), and whether they are
 * left (B4, I8). */

/* Addresses per job: as configured, or (M / (S / s)) / j rounded down, computed without rounding in
 * between: M=4086, S=11136, s=64, j=1 gives 23. 0 or ERROR_INVALID with what is impossible and what
 * would do; then *addresses is 0. */
int sizing_addresses(const struct core_config *config, uint32_t *addresses, struct error *err);

/* HWCOLL_OFF, HWCOLL_INELIGIBLE, or HWCOLL_WANTED with *addresses set: as many as its profile says,
 * or the site (profiled: 0). For INELIGIBLE a sentence for the user is in err->text. */
enum hwcoll_state sizing_decide(const struct core_config *config, enum hwcoll_wish wish,
                                uint32_t node_count, uint32_t profiled, uint32_t *addresses,
                                struct error *err);

/* For a job of Slurm's own plugin, which decides itself which jobs get any: as many as it wants (0:
 * as the site says), and no more than the site gives to a job, where that is known. */
enum hwcoll_state sizing_limit(const struct core_config *config, uint32_t wanted,
                               uint32_t *addresses, struct error *err);

struct core;

/* Whether so many more addresses may be asked for: now, when what is being released is gone, no. */
enum budget { BUDGET_NOW, BUDGET_SOON, BUDGET_NONE };
enum budget core_budget(struct core *core, const char *cluster, uint32_t addresses);
const char *core_budget_words(struct core *core, const char *cluster, uint32_t addresses);
