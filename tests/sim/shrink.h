/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/profile.h"
#include "tests/sim/sim.h"

/* Makes a failing run smaller with the same seed: fewer jobs, one storm, fewer kinds of faults.
 * profile is changed to the smallest one found that still fails, result is what became of it.
 * Returns how many runs were tried. */
unsigned shrink(struct profile *profile, struct sim_result *result);
