/* SPDX-License-Identifier: Apache-2.0 */
#include "client/calls/field.h"
#include "client/fault.h"

#include <stdlib.h>

int field_fault(struct mcast_error *error, const char *name, const char *what)
{
    return fault_set(error, MCAST_UNCLEAR,
                     "the broker's answer is not understood: \"%s\" is %s; do mcastd and libmcast "
                     "differ in version?",
                     name, what);
}

/* The value, or NULL when there is none; then *rc tells whether that is a fault. */
static json_t *find(const json_t *object, const char *name, enum field_need need, int *rc,
                    struct mcast_error *error)
{
    json_t *value = json_object_get(object, name);
    *rc = 0;
    if (value && !json_is_null(value))
        return value;
    if (need == FIELD_REQUIRED)
        *rc = field_fault(error, name, "missing");
    return NULL;
}

int field_string(const json_t *object, const char *name, enum field_need need, const char **out,
                 struct mcast_error *error)
{
    int rc;
    const json_t *value = find(object, name, need, &rc, error);
    if (!value)
        return rc;
    if (!json_is_string(value))
        return field_fault(error, name, "not a string");
    *out = json_string_value(value);
    return 0;
}

int field_uint64(const json_t *object, const char *name, enum field_need need, uint64_t max,
                 uint64_t *out, struct mcast_error *error)
{
    int rc;
    const json_t *value = find(object, name, need, &rc, error);
    if (!value)
        return rc;
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value))
        return field_fault(error, name, "not a whole number");
    if (number < 0 || (uint64_t)number > max)
        return field_fault(error, name, "out of range");
    *out = (uint64_t)number;
    return 0;
}

int field_uint32(const json_t *object, const char *name, enum field_need need, uint32_t *out,
                 struct mcast_error *error)
{
    uint64_t wide = *out;
    int rc = field_uint64(object, name, need, UINT32_MAX, &wide, error);
    *out = (uint32_t)wide;
    return rc;
}

int field_bool(const json_t *object, const char *name, bool *out, struct mcast_error *error)
{
    int rc;
    const json_t *value = find(object, name, FIELD_OPTIONAL, &rc, error);
    if (!value)
        return rc;
    if (!json_is_boolean(value))
        return field_fault(error, name, "neither true nor false");
    *out = json_is_true(value);
    return 0;
}

static int get(const json_t *object, const char *name, json_type type, const char *wrong,
               json_t **out, struct mcast_error *error)
{
    int rc;
    *out = find(object, name, FIELD_OPTIONAL, &rc, error);
    return *out && json_typeof(*out) != type ? field_fault(error, name, wrong) : rc;
}

int field_array(const json_t *object, const char *name, json_t **out, struct mcast_error *error)
{
    return get(object, name, JSON_ARRAY, "not a list", out, error);
}

int field_object(const json_t *object, const char *name, json_t **out, struct mcast_error *error)
{
    return get(object, name, JSON_OBJECT, "not an object", out, error);
}

int field_words(const json_t *object, const char *name, const char *const **out,
                struct mcast_error *error)
{
    json_t *array = NULL;
    int rc = field_array(object, name, &array, error);
    if (rc < 0)
        return rc;
    size_t count = array ? json_array_size(array) : 0;
    const char **words = calloc(count + 1, sizeof(*words));
    if (!words)
        return fault_nomem(error);
    for (size_t i = 0; i < count; i++) {
        words[i] = json_string_value(json_array_get(array, i));
        if (!words[i]) {
            free(words);
            return field_fault(error, name, "not a list of strings");
        }
    }
    *out = words;
    return 0;
}

int field_parse(const char *body, size_t length, json_t **out, struct mcast_error *error)
{
    json_error_t where;
    json_t *root = json_loadb(body, length, 0, &where);
    if (!json_is_object(root)) {
        /* jansson's words quote what stands near the fault, which might be a token: not shown. */
        int line = root ? 1 : where.line, column = root ? 1 : where.column;
        json_decref(root);
        return fault_set(error, MCAST_UNCLEAR,
                         "the broker's answer is not a JSON object (line %d, column %d); is it "
                         "mcastd that answers?",
                         line, column);
    }
    *out = root;
    return 0;
}
