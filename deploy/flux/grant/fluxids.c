/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/flux/grant/fluxids.h"

#include <stddef.h>

static bool number(const char **text, uint32_t *out)
{
    uint64_t value = 0;
    const char *at = *text;
    if (*at < '0' || *at > '9')
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (uint64_t)(*at - '0');
        if (value > UINT32_MAX)
            return false;
    }
    *text = at;
    *out = (uint32_t)value;
    return true;
}

/* "7" or "0-3" */
static bool range(const char **text, uint64_t *size)
{
    uint32_t first;
    uint32_t last;
    if (!number(text, &first))
        return false;
    last = first;
    if (**text == '-') {
        ++*text;
        if (!number(text, &last))
            return false;
    }
    *size = (uint64_t)last - first + 1;
    return last >= first;
}

bool fluxids_count(const char *text, uint32_t *count)
{
    uint64_t sum = 0;
    if (!text)
        return false;
    bool brackets = *text == '[';
    text += brackets ? 1 : 0;
    for (;; text++) {
        uint64_t size;
        if (!range(&text, &size))
            return false;
        sum += size;
        if (*text != ',')
            break;
    }
    if (brackets && *text++ != ']')
        return false;
    *count = (uint32_t)sum;
    return *text == '\0' && sum <= UINT32_MAX;
}
