#include "broker/config/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct unit {
    const char *name;
    int64_t ms;
} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};

enum { UNITS = sizeof units / sizeof units[0] };

int64_t config_duration_digits(const char *text, int64_t max, const char **end)
{
    int64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (*at - '0');
        if (value > max)
            return -1;
    }
    *end = at;
    return at == text ? -1 : value;
}

int64_t config_duration_parse(const char *text)
{
    const char *end = text;
    int64_t value = config_duration_digits(text, INT32_MAX, &end);
    if (value == 0 && *end == '\0')
        return 0;
    for (size_t i = 0; value >= 0 && i < UNITS; i++) {
        if (strcmp(end, units[i].name) == 0)
            return value * units[i].ms;
    }
    return -1;
}

void config_duration_format(char *out, size_t size, int64_t ms)
{
    size_t i = UNITS - 1;
    while (i > 0 && (ms == 0 || ms % units[i].ms != 0))
        i--;
    if (ms == 0)
        (void)snprintf(out, size, "0");
    else
        (void)snprintf(out, size, "%" PRId64 "%s", ms / units[i].ms, units[i].name);
}
