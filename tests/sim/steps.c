/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/steps.h"

#include <string.h>

static const struct {
    const char *name;
    int parent; /* -1: none */
} steps[STEPS] = {
    {"/fA", -1},  {"/fA/fB", 0}, {"/fA/fB/fC", 1}, {"/fA/fBB", 0},
    {"/fAB", -1}, {"0", -1},     {"1234", -1},     {"1234.0", -1},
};

const char *steps_name(int step)
{
    return steps[step].name;
}

int steps_find(const char *name)
{
    for (int step = 0; step < STEPS; step++)
        if (strcmp(steps[step].name, name) == 0)
            return step;
    return -1;
}

bool steps_within(int step, int scope)
{
    while (step >= 0 && step != scope)
        step = steps[step].parent;
    return step >= 0;
}
