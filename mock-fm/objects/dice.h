/* Reproducible random numbers: the same seed, the same run. */
#ifndef MCAST_MOCK_FM_OBJECTS_DICE_H
#define MCAST_MOCK_FM_OBJECTS_DICE_H

#include <stdint.h>

/* Advances the state and returns the next number (splitmix64). */
uint64_t dice_next(uint64_t *state);

/* The next number in [0, 1). */
double dice_fraction(uint64_t *state);

#endif
