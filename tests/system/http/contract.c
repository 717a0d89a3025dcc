/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/contract.h"

#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct check {
    json_t *document;
    char *why;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static bool fails(const struct check *check,
                                                        const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(check->why, check->size, format, arguments);
    va_end(arguments);
    return false;
}

/* Follows "$ref": "#/components/…". */
static json_t *resolve(const struct check *check, json_t *value)
{
    const char *ref = json_string_value(json_object_get(value, "$ref"));
    char copy[128];
    if (!ref)
        return value;
    snprintf(copy, sizeof copy, "%s", ref);
    json_t *at = check->document;
    char *save = NULL, *word = strtok_r(copy, "/", &save);
    while ((word = strtok_r(NULL, "/", &save)))
        at = json_object_get(at, word);
    return at;
}

static bool type_is(const char *type, json_t *value)
{
    return (!strcmp(type, "object") && json_is_object(value)) ||
           (!strcmp(type, "array") && json_is_array(value)) ||
           (!strcmp(type, "string") && json_is_string(value)) ||
           (!strcmp(type, "integer") && json_is_integer(value)) ||
           (!strcmp(type, "boolean") && json_is_boolean(value)) ||
           (!strcmp(type, "null") && json_is_null(value));
}

static bool any_type_is(json_t *type, json_t *value)
{
    size_t i;
    json_t *word;
    if (json_is_string(type))
        return type_is(json_string_value(type), value);
    json_array_foreach(type, i, word)
    {
        if (type_is(json_string_value(word), value))
            return true;
    }
    return false;
}

static bool suits(const struct check *check, json_t *schema, json_t *value, const char *where);

static bool one_of_them(json_t *list, json_t *value)
{
    size_t i;
    json_t *member;
    json_array_foreach(list, i, member)
    {
        if (json_equal(member, value))
            return true;
    }
    return false;
}

static bool any_suits(const struct check *check, json_t *schemas, json_t *value, const char *where)
{
    size_t i;
    json_t *schema;
    json_array_foreach(schemas, i, schema)
    {
        if (suits(check, schema, value, where))
            return true;
    }
    return false;
}

static bool members_suit(const struct check *check, json_t *schema, json_t *value,
                         const char *where)
{
    json_t *properties = json_object_get(schema, "properties"), *member, *word;
    json_t *others = json_object_get(schema, "additionalProperties");
    const char *name;
    size_t i;
    json_array_foreach(json_object_get(schema, "required"), i, word)
    {
        if (!json_object_get(value, json_string_value(word)))
            return fails(check, "%s lacks %s", where, json_string_value(word));
    }
    json_object_foreach(value, name, member)
    {
        json_t *known = json_object_get(properties, name);
        if (!known && json_is_false(others))
            return fails(check, "%s has an undeclared %s", where, name);
        if (!known)
            known = others;
        if (json_is_object(known) && !suits(check, known, member, name))
            return false;
    }
    return true;
}

static bool items_suit(const struct check *check, json_t *schema, json_t *value, const char *where)
{
    size_t i;
    json_t *item, *max = json_object_get(schema, "maxItems");
    if (max && (json_int_t)json_array_size(value) > json_integer_value(max))
        return fails(check, "%s is too long", where);
    json_array_foreach(value, i, item)
    {
        if (!suits(check, json_object_get(schema, "items"), item, where))
            return false;
    }
    return true;
}

static bool matches(const char *pattern, const char *text)
{
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    bool found = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

static bool format_suits(const char *format, const char *text)
{
    if (!strcmp(format, "date-time"))
        return matches("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$", text);
    return !strcmp(format, "uri-reference");
}

/* One word of a schema; false: it does not hold, or is not known here. */
static bool word_holds(const struct check *check, json_t *schema, const char *word, json_t *with,
                       json_t *value, const char *where)
{
    static const char *const elsewhere[] = {
        "description", "default",  "properties", "required", "additionalProperties",
        "items",       "maxItems", "minItems",   NULL};
    for (const char *const *known = elsewhere; *known; known++)
        if (!strcmp(word, *known))
            return true;
    if (!strcmp(word, "type"))
        return any_type_is(with, value) || fails(check, "%s is of a wrong type", where);
    if (!strcmp(word, "enum"))
        return one_of_them(with, value) || fails(check, "%s is none of its words", where);
    if (!strcmp(word, "const"))
        return json_equal(with, value) || fails(check, "%s is another word", where);
    if (!strcmp(word, "minimum"))
        return json_integer_value(value) >= json_integer_value(with) ||
               fails(check, "%s is too small", where);
    if (!strcmp(word, "maximum"))
        return json_integer_value(value) <= json_integer_value(with) ||
               fails(check, "%s is too large", where);
    if (!strcmp(word, "format"))
        return json_is_null(value) ||
               format_suits(json_string_value(with), json_string_value(value)) ||
               fails(check, "%s has a wrong form", where);
    if (!strcmp(word, "anyOf"))
        return any_suits(check, json_object_get(schema, word), value, where);
    return fails(check, "the checker does not know the word '%s'", word);
}

static bool suits(const struct check *check, json_t *schema, json_t *value, const char *where)
{
    const char *word;
    json_t *with;
    schema = resolve(check, schema);
    if (!schema)
        return fails(check, "%s: a $ref leads nowhere", where);
    json_object_foreach(schema, word, with)
    {
        if (!word_holds(check, schema, word, with, value, where))
            return false;
    }
    if (json_is_object(value))
        return members_suit(check, schema, value, where);
    return !json_is_array(value) || items_suit(check, schema, value, where);
}

/* "/v1/clusters/{cluster}/sync" against a real path, whose query is left out. */
static bool path_is(const char *template, const char *path)
{
    size_t length = strcspn(path, "?");
    const char *end = path + length;
    while (*template && path < end) {
        if (*template == '{') {
            template += strcspn(template, "}") + 1;
            path += strcspn(path, "/?");
        } else if (*template ++ != *path++) {
            return false;
        }
    }
    return !*template && path == end;
}

static json_t *find_operation(json_t *document, const char *method, const char *path)
{
    const char *template;
    char lower[16];
    json_t *item;
    snprintf(lower, sizeof lower, "%s", strcmp(method, "HEAD") == 0 ? "GET" : method);
    for (char *c = lower; *c; c++)
        *c = (char)(*c | 0x20);
    json_object_foreach(json_object_get(document, "paths"), template, item)
    {
        if (path_is(template, path))
            return json_object_get(item, lower);
    }
    return NULL;
}

static bool content_suits(const struct check *check, json_t *response, const struct answer *answer)
{
    const char *type;
    char is[96];
    json_t *media;
    if (!answer_header(answer, "Content-Type", is, sizeof is))
        return fails(check, "there is no Content-Type");
    json_object_foreach(json_object_get(response, "content"), type, media)
    {
        size_t length = strlen(type);
        if (strncasecmp(is, type, length) != 0 || !strchr("; ", is[length]))
            continue;
        if (!strstr(type, "json"))
            return true;
        if (!answer->json)
            return fails(check, "the body is not JSON: %.60s", answer->body);
        return suits(check, json_object_get(media, "schema"), answer->json, "the body");
    }
    return fails(check, "the type %s is not declared", is);
}

static bool headers_are_there(const struct check *check, json_t *response,
                              const struct answer *answer)
{
    const char *name;
    char value[128];
    json_t *header;
    json_object_foreach(json_object_get(response, "headers"), name, header)
    {
        if (!answer_header(answer, name, value, sizeof value))
            return fails(check, "the header %s is missing", name);
    }
    return true;
}

bool contract_holds(json_t *document, const char *method, const char *path,
                    const struct answer *answer, char *why, size_t size)
{
    const struct check check = {.document = document, .why = why, .size = size};
    char status[16];
    snprintf(status, sizeof status, "%d", answer->status);
    json_t *operation = find_operation(document, method, path);
    json_t *response = json_object_get(json_object_get(operation, "responses"), status);
    if (!operation) /* no such path or method: what the document says of refusals in general */
        response = json_object_get(
            json_object_get(json_object_get(document, "components"), "responses"), status);
    if (!response)
        return fails(&check, "the status %s is not declared", status);
    response = resolve(&check, response);
    if (!headers_are_there(&check, response, answer))
        return false;
    return !strcmp(method, "HEAD") || content_suits(&check, response, answer);
}

bool contract_suits(json_t *document, const char *name, json_t *value, char *why, size_t size)
{
    const struct check check = {.document = document, .why = why, .size = size};
    json_t *schemas = json_object_get(json_object_get(document, "components"), "schemas");
    return suits(&check, json_object_get(schemas, name), value, name);
}
