#include "mock-fm/objects/dice.h"

uint64_t dice_next(uint64_t *state)
{
    uint64_t mixed = *state += 0x9E3779B97F4A7C15U;

    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31);
}

double dice_fraction(uint64_t *state)
{
    return (double)(dice_next(state) >> 11) * 0x1p-53;
}
