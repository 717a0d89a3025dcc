/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/age.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static bool read_time(const char *when, time_t *out)
{
    struct tm parts = {0};
    if (!when || !strptime(when, "%Y-%m-%dT%H:%M:%S", &parts))
        return false;
    *out = timegm(&parts);
    return true;
}

void age_between(const char *when, time_t now, char out[AGE_SIZE])
{
    static const struct {
        long long seconds, until; /* of the unit; up to so many of it are told in it */
        const char *name;
    } units[] = {{1, 120, "s"}, {60, 120, "min"}, {3600, 48, "h"}, {86400, 0, "d"}};
    time_t then;
    size_t unit = 0;
    out[0] = '\0';
    if (!read_time(when, &then))
        return;
    const long long seconds = llabs((long long)now - (long long)then);
    while (units[unit].until > 0 && seconds >= units[unit].until * units[unit].seconds)
        unit++;
    (void)snprintf(out, AGE_SIZE, "%lld %s", seconds / units[unit].seconds, units[unit].name);
}

bool age_future(const char *when, time_t now)
{
    time_t then;
    return read_time(when, &then) && then > now;
}
