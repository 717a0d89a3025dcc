/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/target.h"

#include "base/duration.h"
#include "base/hex.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

static int decode(char *text, struct problem *problem)
{
    char *out = strchr(text, '%');
    if (!out)
        return 0;
    for (const char *in = out; *in; out++) {
        unsigned char byte = (unsigned char)*in++;
        if (byte == '%' && (hex_read(in, &byte, 1) < 0 || byte == 0))
            return problem_set(problem, 400, "bad-escape", NULL,
                               "the request's address holds a '%%' that is not followed by two "
                               "hexadecimal digits of a character");
        in += in[-1] == '%' ? 2 : 0;
        *out = (char)byte;
    }
    *out = '\0';
    return 0;
}

static char *path_start(char *text)
{
    size_t scheme = !strncasecmp(text, "http://", 7)    ? 7
                    : !strncasecmp(text, "https://", 8) ? 8
                                                        : 0;
    return scheme ? text + scheme + strcspn(text + scheme, "/?") : text;
}

static int query_split(char *text, struct target *target, struct problem *problem)
{
    for (char *rest = text, *item; (item = strsep(&rest, "&"));) {
        if (!*item)
            continue;
        char *value = strchr(item, '=');
        if (value)
            *value++ = '\0';
        if (decode(item, problem) < 0 || (value && decode(value, problem) < 0))
            return -1;
        if (target_query(target, item))
            return problem_set(problem, 400, "repeated-parameter", item,
                               "the parameter '%s' is given twice", item);
        if (target->query_count == TARGET_QUERY_MAX)
            return problem_set(problem, 400, "too-many-parameters", NULL,
                               "no call has more than %d parameters", TARGET_QUERY_MAX);
        target->query[target->query_count].name = item;
        target->query[target->query_count].value = value ? value : "";
        target->query_count++;
    }
    return 0;
}

int target_split(char *text, struct target *target, struct problem *problem)
{
    target->segment_count = target->query_count = 0;
    char *path = path_start(text);
    char *query = strchr(path, '?');
    if (query)
        *query++ = '\0';
    if (*path == '/')
        path++;
    char *rest = *path ? path : NULL;
    for (char *segment; (segment = strsep(&rest, "/"));) {
        if (target->segment_count == TARGET_SEGMENTS_MAX)
            return problem_set(problem, 404, "no-such-path", NULL,
                               "unknown path; GET /openapi.json lists all paths");
        if (decode(segment, problem) < 0)
            return -1;
        target->segments[target->segment_count++] = segment;
    }
    return query ? query_split(query, target, problem) : 0;
}

const char *target_query(const struct target *target, const char *name)
{
    for (size_t i = 0; i < target->query_count; i++)
        if (!strcmp(target->query[i].name, name))
            return target->query[i].value;
    return NULL;
}

int target_wait(const struct target *target, int64_t initial_ms, int64_t *wait_ms,
                struct problem *problem)
{
    const char *text = target_query(target, "wait");
    *wait_ms = text ? duration_parse(text, DURATION_DAYS | DURATION_BARE_ZERO, TARGET_WAIT_MAX_MS)
                    : initial_ms;
    if (*wait_ms >= 0)
        return 0;
    return problem_set(problem, 422, "invalid", "wait",
                       "wait is a time with its unit, such as 500ms or 2s, of at most %d s",
                       TARGET_WAIT_MAX_MS / 1000);
}

bool target_number(const char *text, uint64_t max, uint64_t *value)
{
    uint64_t sum = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        uint64_t digit = (uint64_t)(*text - '0');
        if (digit > max || sum > (max - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return true;
}

int target_query_number(const struct target *target, const char *name, uint64_t min, uint64_t max,
                        uint64_t *value, struct problem *problem)
{
    const char *text = target_query(target, name);
    uint64_t number;
    if (!text)
        return 0;
    if (!target_number(text, max, &number) || number < min)
        return problem_set(problem, 422, "invalid", name,
                           "%s must be a whole number from %" PRIu64 " to %" PRIu64, name, min,
                           max);
    *value = number;
    return 0;
}
