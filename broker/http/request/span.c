#include "broker/http/request/span.h"

#include <stddef.h>
#include <string.h>

static int64_t unit_of(const char *text)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (!strcmp(units[i].name, text))
            return units[i].ms;
    return 0;
}

bool span_parse(const char *text, int64_t max_ms, int64_t *ms)
{
    const size_t digits = strspn(text, "0123456789");
    int64_t count = 0, unit = unit_of(text + digits);
    for (size_t i = 0; i < digits; i++) {
        if (count > max_ms / 10)
            return false;
        count = count * 10 + (text[i] - '0');
    }
    if (unit == 0 && count == 0 && text[digits] == '\0')
        unit = 1;
    if (digits == 0 || unit == 0 || count > max_ms / unit)
        return false;
    *ms = count * unit;
    return true;
}

int wait_query_read(const struct target *target, int64_t initial_ms, int64_t *wait_ms,
                    struct problem *problem)
{
    const char *text = target_query(target, "wait");
    *wait_ms = initial_ms;
    if (!text || span_parse(text, WAIT_QUERY_MAX_MS, wait_ms))
        return 0;
    return problem_set(problem, 422, "invalid", "wait",
                       "wait is a time with its unit, such as 500ms or 2s, of at most %d s",
                       WAIT_QUERY_MAX_MS / 1000);
}
