/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/dice.h"

void dice_init(struct dice *dice, uint64_t seed)
{
    dice->state = seed;
}

uint64_t dice_throw(struct dice *dice)
{
    uint64_t mix = dice->state += 0x9e3779b97f4a7c15u;

    mix = (mix ^ (mix >> 30)) * 0xbf58476d1ce4e5b9u;
    mix = (mix ^ (mix >> 27)) * 0x94d049bb133111ebu;
    return mix ^ (mix >> 31);
}

uint32_t dice_below(struct dice *dice, uint32_t sides)
{
    return (uint32_t)((dice_throw(dice) >> 32) * sides >> 32);
}

uint32_t dice_between(struct dice *dice, uint32_t low, uint32_t high)
{
    return low + dice_below(dice, high - low + 1);
}

bool dice_percent(struct dice *dice, unsigned percent)
{
    return dice_below(dice, 100) < percent;
}
