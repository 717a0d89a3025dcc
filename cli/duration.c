#include "cli/duration.h"

#include <string.h>

enum { DAY = 24 * 60 * 60 };

static int64_t unit(const char *text)
{
    static const struct {
        const char *name;
        int64_t seconds;
    } units[] = {{"s", 1}, {"m", 60}, {"h", 60 * 60}, {"d", DAY}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(text, units[i].name) == 0)
            return units[i].seconds;
    }
    return 0;
}

bool duration_parse(const char *text, int64_t *seconds)
{
    const int64_t most = (int64_t)DURATION_DAYS_MAX * DAY;
    int64_t count = 0;
    for (; *text >= '0' && *text <= '9' && count <= most; text++)
        count = count * 10 + (*text - '0');
    int64_t each = unit(text);
    if (count == 0 || each == 0 || count > most / each)
        return false;
    *seconds = count * each;
    return true;
}
