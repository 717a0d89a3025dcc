/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/request/problem.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Request bodies of JSON, read strictly: all but a sync's, which is too long for a tree of values.
 * A field that is wrong becomes a problem that names it and says what is allowed. Pure. */

/* The body, which is one object. NULL with a 400 that names line and column (no JSON, a field that
 * is there twice), or a 422 for a number that is too large for any field. The caller frees it with
 * json_decref. */
json_t *body_read(const char *bytes, size_t length, struct problem *problem);

/* A field that a body may have, and where its value goes: a whole number from min to max, a text,
 * or a value of any type. Texts and values belong to the body. */
struct body_field {
    const char *name;
    int64_t *number;
    int64_t min, max;
    const char **text;
    const json_t **value;
};

/* Reads the fields (the last has no name). What is missing is kept as it is. within: "" for the
 * body, or what the object is called in it: "services[3]". 0, or -1 with a 422 that names the
 * field: a wrong value, or a name that is none of these. */
int body_read_fields(const json_t *object, const char *within, const struct body_field *fields,
                     struct problem *problem);

/* One number, which is not missing. */
int body_number(const json_t *value, const char *field, int64_t min, int64_t max, int64_t *out,
                struct problem *problem);

/* Seconds, or a time with its unit: field, up to so many days. 0 in *seconds: it is missing. what:
 * that ends then. */
int body_lifetime(const json_t *value, const char *field, const char *what, int days_max,
                  int64_t *seconds, struct problem *problem);
