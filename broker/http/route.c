#include "broker/http/route.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    enum method method;
} words[] = {
    {"GET", METHOD_GET},   {"HEAD", METHOD_GET},      {"PUT", METHOD_PUT},
    {"POST", METHOD_POST}, {"DELETE", METHOD_DELETE},
};

enum { WORDS = sizeof words / sizeof words[0] };

int method_from_word(const char *word)
{
    for (size_t i = 0; i < WORDS; i++)
        if (!strcmp(words[i].word, word))
            return (int)words[i].method;
    return 0;
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

/* "{}" in the pattern stands for any segment that is not empty. */
static bool pattern_matches(const char *pattern, const struct target *target)
{
    for (size_t i = 0; i < target->segment_count; i++) {
        const char *segment = target->segments[i];
        if (*pattern != '/')
            return false;
        size_t length = strcspn(++pattern, "/");
        bool any = length == 2 && pattern[0] == '{';
        if (any ? !*segment : strncmp(pattern, segment, length) != 0 || segment[length] != '\0')
            return false;
        pattern += length;
    }
    return *pattern == '\0';
}

const struct route *route_match(const struct route *routes, size_t count,
                                const struct target *target, int method, unsigned *methods)
{
    const struct route *found = NULL;
    *methods = 0;
    for (size_t i = 0; i < count; i++) {
        if (!pattern_matches(routes[i].pattern, target))
            continue;
        *methods |= (unsigned)routes[i].method;
        if ((int)routes[i].method == method)
            found = &routes[i];
    }
    return found;
}

static bool allowed(const char *const *names, const char *name)
{
    for (; names && *names; names++)
        if (!strcmp(*names, name))
            return true;
    return false;
}

int route_check_query(const struct route *route, const struct target *target,
                      struct problem *problem)
{
    for (size_t i = 0; i < target->query_count; i++) {
        const char *name = target->query[i].name;
        if (allowed(route->query, name))
            continue;
        char known[128] = "none";
        size_t used = 0;
        for (const char *const *q = route->query; q && *q && used < sizeof known; q++)
            used +=
                (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", *q);
        return problem_set(problem, 422, "unknown-parameter", name,
                           "there is no parameter '%s' here; there is: %s", name, known);
    }
    return 0;
}
