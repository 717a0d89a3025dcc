/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLIENT_CALLS_FIELD_H
#define MCAST_CLIENT_CALLS_FIELD_H

/* Reads the fields of a JSON object that the broker sent. A field that is missing or null leaves
 * *out as it is, unless it is required; one of a wrong type or out of range is MCAST_UNCLEAR, named
 * in the text (its value is not, it might be a token). */

#include "client/mcast.h"

#include <jansson.h>

enum field_need { FIELD_OPTIONAL, FIELD_REQUIRED };

/* *out points into the object. */
int field_string(const json_t *object, const char *name, enum field_need need, const char **out,
                 struct mcast_error *error);

/* 0 … max */
int field_uint64(const json_t *object, const char *name, enum field_need need, uint64_t max,
                 uint64_t *out, struct mcast_error *error);
int field_uint32(const json_t *object, const char *name, enum field_need need, uint32_t *out,
                 struct mcast_error *error);
int field_bool(const json_t *object, const char *name, bool *out, struct mcast_error *error);

/* An array or object, or NULL. */
int field_array(const json_t *object, const char *name, json_t **out, struct mcast_error *error);
int field_object(const json_t *object, const char *name, json_t **out, struct mcast_error *error);

/* An array of strings as a NULL-terminated list; the list is the caller's to free(), the strings
 * are the object's. A missing array is an empty list. */
int field_words(const json_t *object, const char *name, const char *const **out,
                struct mcast_error *error);

/* A field is not what it should be. */
int field_fault(struct mcast_error *error, const char *name, const char *what);

/* The body of an answer, which must be one JSON object. *out is the caller's. */
int field_parse(const char *body, size_t length, json_t **out, struct mcast_error *error);

#endif
