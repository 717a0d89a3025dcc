/* SPDX-License-Identifier: Apache-2.0 */
#include "base/duration.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct unit {
    const char *name;
    int64_t ms;
} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", DURATION_DAY_MS}};

enum { UNITS = sizeof units / sizeof units[0] };

int64_t duration_parse(const char *text, unsigned int forms, int64_t max_ms)
{
    const char *unit = text;
    int64_t count = 0;
    assert(max_ms >= 0 && max_ms < INT64_MAX / 10 - 9);
    for (; *unit >= '0' && *unit <= '9'; unit++) {
        if (count <= max_ms)
            count = count * 10 + (*unit - '0');
    }
    if (unit == text)
        return -1;
    if (*unit == '\0' && (forms & DURATION_BARE_SECONDS) != 0)
        unit = "s";
    if (*unit == '\0')
        return (forms & DURATION_BARE_ZERO) != 0 && count == 0 ? 0 : -1;
    for (size_t i = 0; i < UNITS - ((forms & DURATION_DAYS) == 0); i++) {
        if (strcmp(unit, units[i].name) == 0)
            return count <= max_ms / units[i].ms ? count * units[i].ms : -1;
    }
    return -1;
}

void duration_format(char *out, size_t size, int64_t ms)
{
    size_t i = UNITS - 1;
    assert(ms >= 0);
    while (i > 0 && (ms == 0 || ms % units[i].ms != 0))
        i--;
    if (ms == 0)
        (void)snprintf(out, size, "0");
    else
        (void)snprintf(out, size, "%" PRId64 "%s", ms / units[i].ms, units[i].name);
}
