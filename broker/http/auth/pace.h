/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* What one may have of the loop's time that others need, too: some at once, and little a second in
 * the long run. Of tokens a reservation (B3, B8), of topologies a user (P7). Pure. */

enum {
    PACE_ENTRIES = 512, /* that are remembered: those that had something a short while ago */
    PACE_OF_USER = 64   /* of them of one user, so that his jobs do not block those of others */
};

struct pace_entry {
    uint64_t number;     /* whose: of the reservation, or the like; not 0 */
    uint64_t cleared_ms; /* from then on it may have as much as ever again, and is forgotten */
    uint32_t uid;        /* of its owner */
};

/* All zero is a valid one. */
struct pace {
    struct pace_entry entries[PACE_ENTRIES];
};

/* 0: it may be had, and is counted: what is had takes cost_ms in the long run, and until most_ms
 * are taken at once more may be had. Else the milliseconds after which it may. now_ms: by any clock
 * that does not go back. */
uint64_t pace_take(struct pace *pace, uint64_t number, uint32_t uid, uint64_t cost_ms,
                   uint64_t most_ms, uint64_t now_ms);
