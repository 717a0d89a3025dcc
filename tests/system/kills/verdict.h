/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* The faults that were found, each with what it takes to play the round again. */

struct verdict {
    uint64_t seed;
    unsigned round;          /* from 1 */
    const char *plannedkill; /* what was done to the broker in it */
    unsigned faults;
};

/* Counts it, and prints the first of them. */
__attribute__((format(printf, 2, 3))) void verdict_fault(struct verdict *verdict,
                                                         const char *format, ...);
