/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* The job steps that the modelled world knows: few, so that they meet, with names that begin like
 * each other. Which lies below which is told here by hand, and not computed as the core does it. */

enum {
    STEPS = 8,
    STEP_TREES = 2, /* multicast trees that a step has, at most */
    STEP_NAME_MAX = 15,
};

const char *steps_name(int step);
int steps_find(const char *name); /* -1: no such step */

/* Whether step is scope, or lies below it. */
bool steps_within(int step, int scope);

/* Whether a cleanup of `step`, and with `below` of all below it, is about `other` too. */
static inline bool steps_covered(int other, int step, bool below)
{
    return other == step || (below && steps_within(other, step));
}
