/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/profile.h"
#include "tests/sim/sim.h"

#include <stdbool.h>
#include <stdint.h>

/* Many seeds, on several cores if asked to. Each worker is a process of its own, so that an
 * assertion of the core that fails ends one worker, and its seed is known. */

struct sweep {
    struct profile profile; /* for every seed but for the seed itself */
    uint64_t first, seeds;
    uint32_t workers;
    bool keep_going; /* report each failing seed in a line instead of stopping at the first */
};

struct sweep_outcome {
    struct sim_result total; /* sums; failed, invariant and words are of the failing seed below */
    uint64_t runs, failures;
    uint64_t failed_seed; /* the smallest one met */
};

void sweep_run(const struct sweep *sweep, struct sweep_outcome *out);

/* One run in a process of its own. A death by signal is a failure too. trace: to stdout. */
void sweep_once(const struct profile *profile, bool trace, struct sim_result *out);
