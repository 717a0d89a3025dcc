#include "mock-cxi/value.h"

#include "base/duration.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int value_number(const char *text, uint64_t min, uint64_t max, uint64_t *out, struct error *err)
{
    char *end;
    errno = 0;
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    unsigned long long number = strtoull(text, &end, base);
    if (!isdigit((unsigned char)text[0]) || *end || errno || number < min || number > max)
        return error_set(err, ERROR_INVALID, "'%s' is not a number from %ju to %ju", text,
                         (uintmax_t)min, (uintmax_t)max);
    *out = number;
    return 0;
}

int value_bool(const char *text, bool *out, struct error *err)
{
    bool yes = !strcmp(text, "yes");
    if (!yes && strcmp(text, "no") != 0)
        return error_set(err, ERROR_INVALID, "'%s' is neither yes nor no", text);
    *out = yes;
    return 0;
}

int value_duration(const char *text, int64_t *ms, struct error *err)
{
    const int64_t value = duration_parse(text, 0, 365 * DURATION_DAY_MS);
    if (value >= 0) {
        *ms = value;
        return 0;
    }
    return error_set(err, ERROR_INVALID, "'%s' is not a time such as 200ms, 5s, 5m or 1h", text);
}

int value_errno(const char *text, int *number, struct error *err)
{
    for (int i = 1; i < 4096; i++) {
        const char *name = strerrorname_np(i);
        if (name && !strcmp(name, text)) {
            *number = i;
            return 0;
        }
    }
    return error_set(err, ERROR_INVALID, "'%s' is not the name of an error such as EBUSY", text);
}
