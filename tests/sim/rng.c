/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/rng.h"

#include <assert.h>

void rng_init(struct rng *rng, uint64_t seed, uint64_t stream)
{
    rng->state = seed * 0x9e3779b97f4a7c15u ^ stream * 0xd1342543de82ef95u;
    rng_next(rng);
    rng_next(rng);
}

void rng_init_for(struct rng *rng, uint64_t seed, const char *name, int64_t when_ms)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    rng_init(rng, seed, hash ^ (uint64_t)when_ms);
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t z = (rng->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t rng_below(struct rng *rng, uint32_t limit)
{
    assert(limit > 0);
    return (uint32_t)(((rng_next(rng) >> 32) * limit) >> 32);
}

int64_t rng_between(struct rng *rng, int64_t lowest, int64_t highest)
{
    assert(lowest <= highest);
    uint64_t span = (uint64_t)(highest - lowest) + 1;
    return lowest + (int64_t)(rng_next(rng) % span);
}

bool rng_chance(struct rng *rng, uint32_t per_mille)
{
    return rng_below(rng, 1000) < per_mille;
}
