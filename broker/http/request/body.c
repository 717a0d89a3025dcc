/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/body.h"

#include "base/duration.h"
#include "state/plainjson.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *type_word(const json_t *value)
{
    static const char *const words[] = {
        [JSON_OBJECT] = "an object",    [JSON_ARRAY] = "a list",    [JSON_STRING] = "text",
        [JSON_INTEGER] = "a number",    [JSON_REAL] = "a fraction", [JSON_TRUE] = "true or false",
        [JSON_FALSE] = "true or false", [JSON_NULL] = "null",
    };
    return words[json_typeof(value)];
}

/* A number that no type holds is not wrong as JSON. jansson does not say which field it is: its
 * name stands before the last colon. */
static int refuse_overflow(const char *bytes, const json_error_t *error, struct problem *problem)
{
    char field[64] = "";
    const char *colon = memrchr(bytes, ':', (size_t)error->position);
    const char *end = colon ? memrchr(bytes, '"', (size_t)(colon - bytes)) : NULL;
    const char *quote = end ? memrchr(bytes, '"', (size_t)(end - bytes)) : NULL;
    if (quote)
        snprintf(field, sizeof field, "%.*s", (int)(end - quote - 1), quote + 1);
    return problem_set(problem, 422, "invalid", field, "%s: a number that is too large: line %d",
                       field, error->line);
}

json_t *body_read(const char *bytes, size_t length, struct problem *problem)
{
    json_error_t error = {.line = 1, .text = "a NUL byte"};
    const char *text = length > 0 ? bytes : "";
    json_t *body = plainjson_load_plain(text, length);
    if (!body && !memchr(text, '\0', length)) /* jansson takes a NUL between values for the end */
        body = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(body))
        return body;
    if (body)
        problem_set(problem, 400, "bad-json", NULL,
                    "the body must be a JSON object, it is %s: line 1, column 1", type_word(body));
    else if (json_error_code(&error) == json_error_numeric_overflow)
        refuse_overflow(bytes, &error, problem);
    else
        problem_set(problem, 400, "bad-json", NULL,
                    "the body is not valid JSON: line %d, column %d: %s", error.line,
                    error.column > 0 ? error.column : 1, error.text);
    json_decref(body);
    return NULL;
}

int body_number(const json_t *value, const char *field, int64_t min, int64_t max, int64_t *out,
                struct problem *problem)
{
    const int64_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < min || number > max)
        return problem_set(problem, 422, "invalid", field,
                           "%s must be a whole number from %" PRId64 " to %" PRId64 "%s%s", field,
                           min, max, json_is_integer(value) ? "" : ", not ",
                           json_is_integer(value) ? "" : type_word(value));
    *out = number;
    return 0;
}

static int refuse_name(const char *name, struct problem *problem)
{
    return problem_set(problem, 422, "unknown-field", name,
                       "there is no field '%.64s' in this request; GET /openapi.json lists those "
                       "that there are",
                       name);
}

static int read_field(const json_t *value, const char *name, const struct body_field *field,
                      struct problem *problem)
{
    if (field->number)
        return body_number(value, name, field->min, field->max, field->number, problem);
    if (field->text && !json_is_string(value))
        return problem_set(problem, 422, "invalid", name, "%s must be text, not %s", name,
                           type_word(value));
    if (field->text)
        *field->text = json_string_value(value);
    else
        *field->value = value;
    return 0;
}

static const struct body_field *find_field(const struct body_field *fields, const char *name)
{
    while (fields->name && strcmp(fields->name, name) != 0)
        fields++;
    return fields->name ? fields : NULL;
}

int body_read_fields(const json_t *object, const char *within, const struct body_field *fields,
                     struct problem *problem)
{
    const char *name;
    json_t *value;
    json_t *body = (json_t *)(uintptr_t)object;
    json_object_foreach(body, name, value)
    {
        if (!find_field(fields, name)) /* it counts before a wrong value */
            return refuse_name(name, problem);
    }
    json_object_foreach(body, name, value)
    {
        char path[96];
        if (within[0])
            snprintf(path, sizeof path, "%s.%s", within, name);
        if (read_field(value, within[0] ? path : name, find_field(fields, name), problem) < 0)
            return -1;
    }
    return 0;
}

int body_lifetime(const json_t *value, const char *field, const char *what, int days_max,
                  int64_t *seconds, struct problem *problem)
{
    const int64_t max_s = days_max * INT64_C(24) * 60 * 60;
    *seconds = 0;
    if (!value)
        return 0;
    if (json_is_number(value) && body_number(value, field, 1, max_s, seconds, problem) < 0)
        return -1;
    if (json_is_string(value))
        *seconds = duration_parse(json_string_value(value), DURATION_DAYS | DURATION_BARE_ZERO,
                                  max_s * 1000) /
                   1000;
    if (*seconds > 0)
        return 0;
    return problem_set(problem, 422, "invalid", field,
                       "%s is how long the %s is good for: seconds, or a time with its unit, such "
                       "as \"1h\"; at least 1 s, at most %d days",
                       field, what, days_max);
}
