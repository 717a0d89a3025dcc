#include "broker/http/api/bodies/mint_body.h"

#include "broker/http/request/json_scan.h"
#include "base/duration.h"
#include "base/steppath.h"

#include <string.h>

static const int64_t max_s = MINT_DAYS_MAX * INT64_C(24) * 60 * 60;

enum member { STEPS, EXPIRES, OPERATIONS };
static const char *const names[] = {
    [STEPS] = "steps", [EXPIRES] = "expires", [OPERATIONS] = "operations", NULL};

struct reading {
    struct bearer_limits *limits;
    int64_t now;
    uint32_t seen; /* bits by enum member */
};

static int read_steps(struct json_scan *scan, struct bearer_limits *limits)
{
    struct error err = {0};
    char *steps;
    if (json_scan_text(scan, "steps", &steps) < 0)
        return -1;
    limits->steps = steps;
    if (steppath_check(steps, &err) == 0)
        return 0;
    return problem_set(scan->problem, 422, "invalid", "steps", "%s", err.text);
}

/* Seconds from now, or a time with its unit. */
static int read_expires(struct json_scan *scan, const struct reading *reading)
{
    int64_t seconds = 0;
    char *text;
    const char first = json_scan_peek(scan);
    if (first == '-' || (first >= '0' && first <= '9')) {
        if (json_scan_number(scan, "expires", 1, max_s, &seconds) < 0)
            return -1;
    } else if (first == '"') {
        if (json_scan_text(scan, "expires", &text) < 0)
            return -1;
        seconds = duration_parse(text, DURATION_DAYS | DURATION_BARE_ZERO, max_s * 1000) / 1000;
    } else if (!json_scan_kind(scan)) {
        return json_scan_bad(scan, "a number or a text expected");
    }
    if (seconds == 0)
        return problem_set(scan->problem, 422, "invalid", "expires",
                           "expires is how long the token is good for: seconds, or a time with its "
                           "unit, such as \"1h\"; at least 1 s, at most %d days",
                           MINT_DAYS_MAX);
    reading->limits->expires = reading->now + seconds;
    return 0;
}

static int refuse_operations(struct problem *problem)
{
    return problem_set(problem, 422, "invalid", "operations",
                       "operations is a list of one or more of these: \"show\", \"cleanup\"");
}

static int read_operation(struct json_scan *scan, size_t index, void *arg)
{
    struct bearer_limits *limits = arg;
    char *word = NULL;
    (void)index;
    if (!json_scan_kind(scan))
        return json_scan_bad(scan, "a text expected");
    if (*scan->at == '"' && json_scan_text(scan, "operations", &word) < 0)
        return -1;
    const unsigned bit = word ? bearer_operation_parse(word, strlen(word)) : 0;
    limits->operations |= bit;
    return bit ? 0 : refuse_operations(scan->problem);
}

static int read_operations(struct json_scan *scan, struct bearer_limits *limits)
{
    if (!json_scan_kind(scan))
        return json_scan_bad(scan, "a list expected");
    if (*scan->at == '[' && json_scan_list(scan, read_operation, limits) < 0)
        return -1;
    return limits->operations ? 0 : refuse_operations(scan->problem);
}

static int read_member(struct json_scan *scan, const char *name, void *arg)
{
    struct reading *reading = arg;
    const int member = json_scan_name(scan, name, names, &reading->seen);
    if (member < 0)
        return -1;
    switch ((enum member)member) {
    case STEPS:
        return read_steps(scan, reading->limits);
    case EXPIRES:
        return read_expires(scan, reading);
    case OPERATIONS:
        return read_operations(scan, reading->limits);
    }
    return -1;
}

int mint_body_parse(char *bytes, size_t length, int64_t now, struct bearer_limits *limits,
                    struct problem *problem)
{
    struct reading reading = {.limits = limits, .now = now};
    *limits = (struct bearer_limits){0};
    return length == 0 ? 0 : json_scan_body(bytes, length, read_member, &reading, problem);
}
