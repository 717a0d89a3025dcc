/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/bodies/mint_body.h"

#include "base/duration.h"
#include "base/steppath.h"

#include <string.h>

static int read_steps(const json_t *value, struct bearer_limits *limits, struct problem *problem)
{
    struct error err = {0};
    if (body_text(value, "steps", &limits->steps, problem) < 0)
        return -1;
    if (!limits->steps || steppath_check(limits->steps, &err) == 0)
        return 0;
    return problem_set(problem, 422, "invalid", "steps", "%s", err.text);
}

/* Seconds from now, or a time with its unit. */
static int read_expires(const json_t *value, int64_t now, struct bearer_limits *limits,
                        struct problem *problem)
{
    static const int64_t max_s = MINT_DAYS_MAX * INT64_C(24) * 60 * 60;
    int64_t seconds = 0;
    if (!value)
        return 0;
    if (json_is_number(value) && body_number(value, "expires", 1, max_s, &seconds, problem) < 0)
        return -1;
    if (json_is_string(value))
        seconds = duration_parse(json_string_value(value), DURATION_DAYS | DURATION_BARE_ZERO,
                                 max_s * 1000) /
                  1000;
    if (seconds == 0)
        return problem_set(problem, 422, "invalid", "expires",
                           "expires is how long the token is good for: seconds, or a time with its "
                           "unit, such as \"1h\"; at least 1 s, at most %d days",
                           MINT_DAYS_MAX);
    limits->expires = now + seconds;
    return 0;
}

static int read_operations(const json_t *list, struct bearer_limits *limits,
                           struct problem *problem)
{
    unsigned bit = list ? 0 : BEARER_EVERYTHING;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        bit = word ? bearer_operation_parse(word, strlen(word)) : 0;
        if (!bit)
            break;
        limits->operations |= bit;
    }
    if (bit)
        return 0;
    return problem_set(problem, 422, "invalid", "operations",
                       "operations is a list of one or more of these: \"show\", \"cleanup\"");
}

int mint_body_parse(const json_t *body, int64_t now, struct bearer_limits *limits,
                    struct problem *problem)
{
    static const char *const names[] = {"steps", "expires", "operations", NULL};
    *limits = (struct bearer_limits){0};
    if (body_check_names(body, names, problem) < 0 ||
        read_steps(json_object_get(body, "steps"), limits, problem) < 0 ||
        read_expires(json_object_get(body, "expires"), now, limits, problem) < 0)
        return -1;
    return read_operations(json_object_get(body, "operations"), limits, problem);
}
