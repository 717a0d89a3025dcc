/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/metrics/histogram.h"
#include "core/core.h"

#include <stdbool.h>
#include <stdint.h>

/* The last hour, for who looks without a Prometheus (B5): a sample each HISTORY_EVERY_MS, since the
 * broker's start. In memory only. */

enum { HISTORY_EVERY_MS = 10000, HISTORY_SAMPLES = 3600000 / HISTORY_EVERY_MS };

struct history_sample {
    int64_t at_ms;
    uint32_t since_ms;          /* the time that it is about, until at_ms */
    uint32_t half_us, worst_us; /* so long took half of the reserves, 99 of 100, at most; as exact
                                   as the histogram's bounds; 0: none, or longer than the last */
    uint64_t reserves;          /* that were answered */
    uint32_t queue;             /* calls that wait for the fabric manager */
    uint32_t live, held, quarantined; /* VNIs, as in the status */
};

/* All zero: nothing was sampled. */
struct history {
    struct history_sample samples[HISTORY_SAMPLES]; /* by number % HISTORY_SAMPLES */
    uint64_t taken;                                 /* since the start */
    int64_t last_ms;
    struct histogram before; /* of reserves, when the last was taken */
};

bool history_due(const struct history *history, int64_t now_ms);
/* reserves: how long all took since the start. */
void history_take(struct history *history, int64_t now_ms, const struct histogram *reserves,
                  const struct core_status *status);

/* The oldest one that is kept and later than after_ms, from *number on, which is moved behind it;
 * NULL: no more. Begin with 0. */
const struct history_sample *history_next(const struct history *history, int64_t after_ms,
                                          uint64_t *number);
