/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Chance that can be had again: one seed gives one sequence (splitmix64). */

struct prng {
    uint64_t state;
};

void prng_init(struct prng *prng, uint64_t seed);
uint64_t prng_throw(struct prng *prng);
/* 0 … sides - 1. */
uint32_t prng_below(struct prng *prng, uint32_t sides);
/* low … high. */
uint32_t prng_between(struct prng *prng, uint32_t low, uint32_t high);
/* True in so many of a hundred throws. */
bool prng_percent(struct prng *prng, unsigned percent);
