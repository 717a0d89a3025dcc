/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The simulator's dice: splitmix64. One seed and one stream number give one sequence, on every
 * machine. Each part of the world has a stream of its own, so that leaving something out changes
 * the others' throws as little as possible (shrinking). */

struct rng {
    uint64_t state;
};

void rng_init(struct rng *rng, uint64_t seed, uint64_t stream);
/* Dice for one thing that happens, from what it is called and when: the same whatever else did. */
void rng_init_for(struct rng *rng, uint64_t seed, const char *name, int64_t when_ms);
uint64_t rng_next(struct rng *rng);
uint32_t rng_below(struct rng *rng, uint32_t limit); /* 0 … limit-1; limit ≥ 1 */
int64_t rng_between(struct rng *rng, int64_t lowest, int64_t highest); /* both included */
bool rng_chance(struct rng *rng, uint32_t per_mille);
