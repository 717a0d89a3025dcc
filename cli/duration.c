#include "cli/duration.h"

#include <string.h>

enum { DAY_MS = 24 * 60 * 60 * 1000 };

/* In milliseconds; 0: no unit has this name. */
static int64_t unit(const char *text)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", DAY_MS}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(text, units[i].name) == 0)
            return units[i].ms;
    }
    return 0;
}

bool duration_parse_ms(const char *text, int64_t *ms)
{
    const int64_t most = (int64_t)DURATION_DAYS_MAX * DAY_MS;
    int64_t count = 0;
    for (; *text >= '0' && *text <= '9' && count <= most; text++)
        count = count * 10 + (*text - '0');
    int64_t each = unit(text);
    if (count == 0 || each == 0 || count > most / each)
        return false;
    *ms = count * each;
    return true;
}

bool duration_parse(const char *text, int64_t *seconds)
{
    int64_t ms;
    if (strstr(text, "ms") || !duration_parse_ms(text, &ms))
        return false;
    *seconds = ms / 1000;
    return true;
}
