#include "broker/http/json_body.h"

#include <string.h>

json_t *json_body_parse(const char *body, size_t length, struct problem *problem)
{
    json_error_t error;
    json_t *root = json_loadb(length ? body : "", length, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        problem_set(problem, 400, "bad-json", NULL,
                    "the body is not valid JSON: line %d, column "
                    "%d: %s",
                    error.line, error.column, error.text);
        return NULL;
    }
    if (!json_is_object(root)) {
        problem_set(problem, 400, "bad-json", NULL,
                    "the body must be a JSON object, it is %s: line 1, column 1",
                    json_body_kind(root));
        json_decref(root);
        return NULL;
    }
    return root;
}

int json_body_check_names(json_t *object, const char *const *names, struct problem *problem)
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        size_t i = 0;
        while (names[i] && strcmp(names[i], name) != 0)
            i++;
        if (!names[i])
            return problem_set(problem, 422, "unknown-field", name,
                               "there is no field '%.64s' in this request; GET /openapi.json lists "
                               "those that there are",
                               name);
    }
    return 0;
}

int json_body_number(json_t *object, const char *name, uint32_t min, uint32_t max, uint32_t *value,
                     bool *found, struct problem *problem)
{
    const json_t *member = json_object_get(object, name);
    *found = member != NULL;
    if (!member)
        return 0;
    json_int_t number = json_integer_value(member);
    if (json_is_integer(member) && number >= (json_int_t)min && number <= (json_int_t)max) {
        *value = (uint32_t)number;
        return 0;
    }
    return problem_set(problem, 422, "invalid", name, "%s must be a whole number from %u to %u%s%s",
                       name, min, max, json_is_integer(member) ? "" : ", not ",
                       json_is_integer(member) ? "" : json_body_kind(member));
}

int json_body_text(json_t *object, const char *name, const char **value, struct problem *problem)
{
    const json_t *member = json_object_get(object, name);
    *value = json_string_value(member);
    if (!member || *value)
        return 0;
    return problem_set(problem, 422, "invalid", name, "%s must be text, not %s", name,
                       json_body_kind(member));
}

const char *json_body_kind(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "text";
    case JSON_INTEGER:
        return "a whole number";
    case JSON_REAL:
        return "a fraction";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        break;
    }
    return "null";
}
