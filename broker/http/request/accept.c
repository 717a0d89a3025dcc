/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/accept.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* "q=0.5" and the like: thousandths; anything odd counts as 1. */
static int weight_parse(const char *text, size_t length)
{
    if (length == 0 || text[0] != '0')
        return 1000;
    int weight = 0, unit = 100;
    for (size_t i = 2; i < length && unit && text[i] >= '0' && text[i] <= '9'; i++, unit /= 10)
        weight += (text[i] - '0') * unit;
    return weight;
}

/* 3: the very type, 2: "text" and any, 1: any and any, 0: no match. */
static int specificity(const char *range, size_t length, const char *type)
{
    size_t main = strcspn(type, "/") + 1;
    if (length == strlen(type) && !strncasecmp(range, type, length))
        return 3;
    if (length == main + 1 && range[main] == '*' && !strncasecmp(range, type, main))
        return 2;
    return length == 3 && !strncmp(range, "*/*", 3) ? 1 : 0;
}

static int range_weight(const char *parameters, const char *end)
{
    for (const char *at = parameters; at < end;) {
        at += strspn(at, "; \t");
        const char *stop = at + strcspn(at, ";,");
        if (stop > end)
            stop = end;
        if (stop - at > 2 && (at[0] == 'q' || at[0] == 'Q') && at[1] == '=')
            return weight_parse(at + 2, (size_t)(stop - at - 2));
        at = stop < end ? stop + 1 : end;
    }
    return 1000;
}

int accept_weight(const char *accept, const char *type)
{
    if (!accept || !*accept)
        return 1000;
    int best = 0, weight = 0;
    for (const char *at = accept; *at;) {
        at += strspn(at, ", \t");
        const char *end = at + strcspn(at, ",");
        size_t length = strcspn(at, ";, \t");
        int match = specificity(at, length, type);
        if (match > best) {
            best = match;
            weight = range_weight(at + length, end);
        }
        at = end;
    }
    return weight;
}
