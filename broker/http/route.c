/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/route.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    enum method method;
} words[] = {
    {"GET", METHOD_GET},   {"HEAD", METHOD_GET},      {"PUT", METHOD_PUT},
    {"POST", METHOD_POST}, {"DELETE", METHOD_DELETE}, {"PATCH", METHOD_PATCH},
};

enum { WORDS = sizeof words / sizeof words[0] };

int method_from_word(const char *word)
{
    for (size_t i = 0; i < WORDS; i++)
        if (!strcmp(words[i].word, word))
            return (int)words[i].method;
    return 0;
}

const char *method_word(enum method method)
{
    size_t i = 0;
    while (words[i].method != method)
        i++;
    return words[i].word;
}

void methods_format(char *out, size_t size, unsigned methods)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < WORDS && used < size; i++)
        if (methods & (unsigned)words[i].method)
            used +=
                (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", words[i].word);
}

/* "{}" stands for any segment that is not empty. */
static bool pattern_matches(const char *pattern, const struct target *target)
{
    for (size_t i = 0; i < target->segment_count; i++) {
        const char *segment = target->segments[i];
        if (*pattern++ != '/')
            return false;
        const size_t length = strcspn(pattern, "/");
        if (*pattern == '{' ? *segment == '\0'
                            : strncmp(pattern, segment, length) != 0 || segment[length] != '\0')
            return false;
        pattern += length;
    }
    return *pattern == '\0';
}

static bool is_of(const struct route *route, bool front)
{
    return route->both || route->front == front;
}

const struct route *route_match(const struct route *routes, size_t count,
                                const struct target *target, bool front, int method,
                                unsigned *methods)
{
    *methods = 0;
    for (size_t i = 0; i < count; i++)
        if (is_of(&routes[i], front) && (int)routes[i].method == method &&
            pattern_matches(routes[i].pattern, target))
            return &routes[i];
    for (size_t i = 0; i < count; i++)
        if (is_of(&routes[i], front) && pattern_matches(routes[i].pattern, target))
            *methods |= (unsigned)routes[i].method;
    return NULL;
}

int route_check_query(const struct route *route, const struct target *target,
                      struct problem *problem)
{
    for (size_t i = 0; i < target->query_count; i++) {
        const char *name = target->query[i].name;
        char known[128] = "none";
        size_t used = 0;
        const char *const *known_name = route->query;
        for (; known_name && *known_name && strcmp(*known_name, name) != 0; known_name++)
            if (used < sizeof known)
                used += (size_t)snprintf(known + used, sizeof known - used, "%s%s",
                                         used ? ", " : "", *known_name);
        if (!known_name || !*known_name)
            return problem_set(problem, 422, "unknown-parameter", name,
                               "there is no parameter '%s' here; there is: %s", name, known);
    }
    return 0;
}
