#include "broker/http/mint_body.h"

#include "broker/http/span.h"
#include "core/steppath.h"

static const int64_t day_s = INT64_C(24) * 60 * 60;

static int read_steps(json_t *root, const char **steps, struct problem *problem)
{
    struct error err = {0};
    if (json_body_text(root, "steps", steps, problem) < 0)
        return -1;
    if (!*steps || steppath_check(*steps, &err) == 0)
        return 0;
    return problem_set(problem, 422, "invalid", "steps", "%s", err.text);
}

/* Seconds from now, or a time with its unit. */
static int read_expires(json_t *root, int64_t now, int64_t *expires, struct problem *problem)
{
    const json_t *member = json_object_get(root, "expires");
    const char *text = json_string_value(member);
    const int64_t max_s = MINT_DAYS_MAX * day_s;
    int64_t ms, seconds = json_integer_value(member);
    if (!member)
        return 0;
    if (text)
        seconds = span_parse(text, max_s * 1000, &ms) ? ms / 1000 : 0;
    if ((text || json_is_integer(member)) && seconds > 0 && seconds <= max_s) {
        *expires = now + seconds;
        return 0;
    }
    return problem_set(problem, 422, "invalid", "expires",
                       "expires is how long the token is good for: seconds, or a time with its "
                       "unit, such as \"1h\"; at least 1 s, at most %d days",
                       MINT_DAYS_MAX);
}

static int read_operations(json_t *root, unsigned *operations, struct problem *problem)
{
    const json_t *list = json_object_get(root, "operations"), *item;
    size_t i;
    if (!list)
        return 0;
    json_array_foreach(list, i, item)
    {
        const char *word = json_string_value(item);
        unsigned bit = word ? bearer_operation_parse(word, json_string_length(item)) : 0;
        if (!bit)
            *operations = 0;
        if (!bit)
            break;
        *operations |= bit;
    }
    if (*operations)
        return 0;
    return problem_set(problem, 422, "invalid", "operations",
                       "operations is a list of one or more of these: \"show\", \"cleanup\"");
}

static int read_members(struct mint_body *body, int64_t now, struct problem *problem)
{
    static const char *const names[] = {"steps", "expires", "operations", NULL};
    struct bearer_limits *limits = &body->limits;
    if (json_body_check_names(body->root, names, problem) < 0 ||
        read_steps(body->root, &limits->steps, problem) < 0 ||
        read_expires(body->root, now, &limits->expires, problem) < 0)
        return -1;
    return read_operations(body->root, &limits->operations, problem);
}

int mint_body_parse(const char *bytes, size_t length, int64_t now, struct mint_body *body,
                    struct problem *problem)
{
    *body = (struct mint_body){0};
    if (length == 0)
        return 0;
    body->root = json_body_parse(bytes, length, problem);
    if (body->root && read_members(body, now, problem) == 0)
        return 0;
    mint_body_release(body);
    return -1;
}

void mint_body_release(struct mint_body *body)
{
    json_decref(body->root);
    *body = (struct mint_body){0};
}
