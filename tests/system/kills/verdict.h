/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TESTS_KILLS_VERDICT_H
#define MCAST_TESTS_KILLS_VERDICT_H

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

#endif
