/* SPDX-License-Identifier: Apache-2.0 */
#include "client/calls/field.h"
#include "client/text.h"

#include <stdlib.h>

int field_fault(struct mcast_error *error, const char *name, const char *what)
{
    return fault_set(error, MCAST_UNCLEAR,
                     "the broker's answer is not understood: \"%s\" is %s; do mcastd and libmcast "
                     "differ in version?",
                     name, what);
}

int field_parse(const char *body, size_t length, json_t **out, struct mcast_error *error)
{
    json_error_t where;
    json_t *root = json_loadb(body, length, 0, &where);
    if (json_is_object(root)) {
        *out = root;
        return 0;
    }
    /* jansson's words quote what stands near the fault, which might be a token: not shown. */
    int line = root ? 1 : where.line, column = root ? 1 : where.column;
    json_decref(root);
    return fault_set(error, MCAST_UNCLEAR,
                     "the broker's answer is not a JSON object (line %d, column %d); is it mcastd "
                     "that answers?",
                     line, column);
}

static int read_number(const json_t *value, const char *name, uint64_t max, uint64_t *out,
                       struct mcast_error *error)
{
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value))
        return field_fault(error, name, "not a whole number");
    if (number < 0 || (uint64_t)number > max)
        return field_fault(error, name, "out of range");
    *out = (uint64_t)number;
    return 0;
}

int field_read(const json_t *object, const char *name, enum field_type type, enum field_need need,
               void *out, struct mcast_error *error)
{
    const json_t *value = json_object_get(object, name);
    uint64_t number = 0;
    int rc = 0;
    if (!value || json_is_null(value))
        return need == FIELD_REQUIRED ? field_fault(error, name, "missing") : 0;
    switch (type) {
    case FIELD_STRING:
        if (!json_is_string(value))
            return field_fault(error, name, "not a string");
        *(const char **)out = json_string_value(value);
        break;
    case FIELD_UINT64:
        return read_number(value, name, UINT64_MAX, out, error);
    case FIELD_UINT32:
        if ((rc = read_number(value, name, UINT32_MAX, &number, error)) == 0)
            *(uint32_t *)out = (uint32_t)number;
        break;
    case FIELD_BOOL:
        if (!json_is_boolean(value))
            return field_fault(error, name, "neither true nor false");
        *(bool *)out = json_is_true(value);
        break;
    case FIELD_WORDS: /* by fields_read only */
        break;
    }
    return rc;
}

int field_nested(const json_t *object, const char *name, json_type type, json_t **out,
                 struct mcast_error *error)
{
    json_t *value = json_object_get(object, name);
    *out = json_is_null(value) ? NULL : value;
    if (!*out || json_typeof(*out) == type)
        return 0;
    return field_fault(error, name, type == JSON_ARRAY ? "not a list" : "not an object");
}

char *field_json(const json_t *root, unsigned flags)
{
    return json_dumps(root, flags & MCAST_JSON_INDENT ? JSON_INDENT(2) : JSON_COMPACT);
}

/* ---- documents ---- */

struct list {
    struct list *next;
    max_align_t bytes[];
};

struct document {
    json_t *root;
    struct list *lists;
    max_align_t seen[]; /* by the caller */
};

static struct document *document_of(const void *seen)
{
    return (struct document *)((const char *)seen - offsetof(struct document, seen));
}

void *document_create(size_t size, json_t *root)
{
    struct document *document = calloc(1, sizeof *document + size);
    if (!document) {
        json_decref(root);
        return NULL;
    }
    document->root = root;
    return document->seen; // cppcheck-suppress memleak ; document_free finds it by seen
}

void document_free(void *seen)
{
    if (!seen)
        return;
    struct document *document = document_of(seen);
    for (struct list *list; (list = document->lists);) {
        document->lists = list->next;
        free(list);
    }
    json_decref(document->root);
    free(document);
}

json_t *document_root(const void *seen)
{
    return document_of(seen)->root;
}

void *document_list(void *seen, size_t count, size_t size)
{
    struct document *document = document_of(seen);
    struct list *list = calloc(1, sizeof *list + count * size); /* no more than was parsed */
    if (!list)
        return NULL;
    list->next = document->lists;
    document->lists = list;
    return list->bytes;
}

static int read_words(void *seen, const json_t *object, const char *name, const char *const **out,
                      struct mcast_error *error)
{
    json_t *array = NULL;
    int rc = field_nested(object, name, JSON_ARRAY, &array, error);
    if (rc < 0)
        return rc;
    const char **words = document_list(seen, json_array_size(array) + 1, sizeof *words);
    if (!words)
        return fault_nomem(error);
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!(words[i] = json_string_value(json_array_get(array, i))))
            return field_fault(error, name, "not a list of strings");
    *out = words;
    return 0;
}

int fields_read(const json_t *object, const struct field *fields, size_t count, void *out,
                struct mcast_error *error)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct field *field = &fields[i];
        void *member = (char *)out + field->offset;
        rc = field->type == FIELD_WORDS
                 ? read_words(out, object, field->name, member, error)
                 : field_read(object, field->name, field->type, field->need, member, error);
    }
    return rc;
}

int document_numbers(void *seen, const json_t *object, const char *name, size_t max,
                     const uint16_t **out, size_t *count, struct mcast_error *error)
{
    json_t *array = NULL;
    int rc = field_nested(object, name, JSON_ARRAY, &array, error);
    if (rc < 0)
        return rc;
    if (json_array_size(array) > max)
        return field_fault(error, name, "too long a list");
    uint16_t *numbers = document_list(seen, json_array_size(array), sizeof *numbers);
    if (!numbers)
        return fault_nomem(error);
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);
        json_int_t value = json_integer_value(item);
        if (!json_is_integer(item) || value < 0 || value > UINT16_MAX)
            return field_fault(error, name, "not a list of numbers from 0 to 65535");
        numbers[i] = (uint16_t)value;
    }
    *out = numbers;
    *count = json_array_size(array);
    return 0;
}
