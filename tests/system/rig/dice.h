/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TESTS_RIG_DICE_H
#define MCAST_TESTS_RIG_DICE_H

#include <stdbool.h>
#include <stdint.h>

/* Chance that can be had again: one seed gives one sequence (splitmix64). */

struct dice {
    uint64_t state;
};

void dice_init(struct dice *dice, uint64_t seed);
uint64_t dice_throw(struct dice *dice);
/* 0 … sides - 1. */
uint32_t dice_below(struct dice *dice, uint32_t sides);
/* low … high. */
uint32_t dice_between(struct dice *dice, uint32_t low, uint32_t high);
/* True in so many of a hundred throws. */
bool dice_percent(struct dice *dice, unsigned percent);

#endif
