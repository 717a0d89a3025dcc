/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/rig/prng.h"
#include "tests/system/rig/testbed.h"

#include <stddef.h>

/* Faults of the fabric manager's double that come and go: lost answers, late ones, refusals, broken
 * lists (docs/mock-fm.md). None of them makes it lose what it has said yes to, and none makes it
 * act more than 600 ms late. */

/* Other rules than before, or none: chosen by the dice. How bad it is, in words; NULL: the double
 * could not be told. */
const char *weather_change(struct testbed *testbed, struct prng *prng);
/* No rules at all. 0, or -1. */
int weather_clear(struct testbed *testbed);
