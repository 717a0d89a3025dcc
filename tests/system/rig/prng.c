/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/prng.h"

void prng_init(struct prng *prng, uint64_t seed)
{
    prng->state = seed;
}

uint64_t prng_throw(struct prng *prng)
{
    uint64_t mix = prng->state += 0x9e3779b97f4a7c15u;

    mix = (mix ^ (mix >> 30)) * 0xbf58476d1ce4e5b9u;
    mix = (mix ^ (mix >> 27)) * 0x94d049bb133111ebu;
    return mix ^ (mix >> 31);
}

uint32_t prng_below(struct prng *prng, uint32_t sides)
{
    return (uint32_t)((prng_throw(prng) >> 32) * sides >> 32);
}

uint32_t prng_between(struct prng *prng, uint32_t low, uint32_t high)
{
    return low + prng_below(prng, high - low + 1);
}

bool prng_percent(struct prng *prng, unsigned percent)
{
    return prng_below(prng, 100) < percent;
}
