/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/kills/scene.h"

/* Asks all brokers for jobs, also those that do not lead, are paused or cut off, while the crowd
 * changes them (I9): what had been acknowledged when it asked, and was not to be changed until the
 * answer came, is what the answer says. */

struct witness;
struct witness *witness_create(struct scene *scene); /* NULL: out of memory */
void witness_destroy(struct witness *witness);       /* NULL is allowed; nothing may be under way */

void witness_turn(struct witness *witness); /* asks, now and then */

struct witness_counts {
    uint64_t looks, live, gone, changed, misled, unanswered; /* answers by what was known */
};
const struct witness_counts *witness_counts(const struct witness *witness);
