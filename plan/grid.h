/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "plan/replay.h"

/* Every setting of a grid, on all processors, and which of them to take. */

struct plan_grid {
    struct plan_outcome *outcomes; /* their settings; the rest is filled in */
    size_t count;
};

void plan_run(const struct joblog *log, const struct plan_machine *machine, struct plan_grid *grid);

/* The index of the setting to take, and why, in words; -1: none serves the log, and why; "": none
 * is possible. No job lacks a VNI; then by this order: a quarter of the pool stays free; of the
 * jobs that ask for addresses at most one in a thousand gets none; most node-hours are served,
 * where one percent more does not count; most addresses for a job; the longest quarantine; the
 * largest minimum size. */
int plan_choose(const struct plan_grid *grid, const struct plan_machine *machine, char *why,
                size_t size);
