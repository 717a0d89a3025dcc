/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/boottime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { USUAL_UPTIME_S = 2 * 3600, NUMBER_SIZE = 24 };

int64_t boottime_usual(void)
{
    static int64_t booted_s;
    if (booted_s == 0)
        booted_s = (int64_t)time(NULL) - USUAL_UPTIME_S;
    return booted_s;
}

void boottime_set(int64_t booted_s)
{
    char number[NUMBER_SIZE];
    snprintf(number, sizeof number, "%" PRId64, booted_s);
    setenv("TEST_BOOTED", number, 1);
    setenv("LD_PRELOAD", RIG_BOOTED, 1);
}
