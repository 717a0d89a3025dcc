/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-cxi/value.h"

#include "base/duration.h"
#include "base/text.h"

#include <string.h>

int value_number(const char *text, uint64_t min, uint64_t max, uint64_t *out, struct error *err)
{
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    if (text_number(text, base, max, out) && *out >= min)
        return 0;
    return error_set(err, ERROR_INVALID, "'%s' is not a number from %ju to %ju", text,
                     (uintmax_t)min, (uintmax_t)max);
}

int value_read_number(const struct value_key *key, const char *text, void *field, struct error *err)
{
    uint64_t number;
    int r = value_number(text, key->min, key->max, &number, err);
    if (r < 0)
        return r;
    if (key->size == sizeof(uint16_t))
        *(uint16_t *)field = (uint16_t)number;
    else if (key->size == sizeof(uint32_t))
        *(uint32_t *)field = (uint32_t)number;
    else
        *(uint64_t *)field = number;
    return 0;
}

int value_read_bool(const struct value_key *key, const char *text, void *field, struct error *err)
{
    *(bool *)field = !strcmp(text, key->yes);
    if (!*(bool *)field && strcmp(text, key->no) != 0)
        return error_set(err, ERROR_INVALID, "'%s' is neither %s nor %s", text, key->yes, key->no);
    return 0;
}

int value_read_duration(const struct value_key *key, const char *text, void *field,
                        struct error *err)
{
    (void)key;
    int64_t *ms = field;
    *ms = duration_parse(text, 0, 365 * DURATION_DAY_MS);
    if (*ms >= 0)
        return 0;
    return error_set(err, ERROR_INVALID, "'%s' is not a time such as 200ms, 5s, 5m or 1h", text);
}

int value_read_errno(const struct value_key *key, const char *text, void *field, struct error *err)
{
    (void)key;
    for (int i = 1; i < 4096; i++) {
        const char *name = strerrorname_np(i);
        if (name && !strcmp(name, text)) {
            *(int *)field = i;
            return 0;
        }
    }
    return error_set(err, ERROR_INVALID, "'%s' is not the name of an error such as EBUSY", text);
}

int value_set(const struct value_key *keys, size_t count, const char *what, void *section,
              const char *key, const char *text, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(keys[i].key, key))
            return keys[i].read(&keys[i], text, (char *)section + keys[i].offset, err);
    return error_set(err, ERROR_INVALID, "%s has no '%s'", what, key);
}
