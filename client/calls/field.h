/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Reads what the broker sent: JSON objects, into the structs of mcast.h. A field that is missing or
 * null leaves its member as it is, unless it is required; one of a wrong type or out of range is
 * MCAST_UNCLEAR, named in the text (its value is not, it might be a token). */

#include "client/mcast.h"

#include <jansson.h>

/* The body of an answer, which must be one JSON object. *out is the caller's. */
int field_parse(const char *body, size_t length, json_t **out, struct mcast_error *error);

/* A field is not what it should be. */
int field_fault(struct mcast_error *error, const char *name, const char *what);

enum field_need { FIELD_OPTIONAL, FIELD_REQUIRED };
enum field_type {
    FIELD_STRING, /* const char *, which points into the object */
    FIELD_UINT64,
    FIELD_UINT32,
    FIELD_BOOL,
    FIELD_WORDS, /* const char *const *, a list in the document, ended by NULL also when missing */
};

struct field {
    const char *name;
    enum field_type type;
    enum field_need need;
    size_t offset; /* of the member */
};

/* Fills the struct, which is a document where there are FIELD_WORDS. */
int fields_read(const json_t *object, const struct field *fields, size_t count, void *out,
                struct mcast_error *error);
#define FIELDS_READ(object, fields, out, error)                                                    \
    fields_read(object, fields, sizeof fields / sizeof((fields)[0]), out, error)

/* One field, without a table. */
int field_read(const json_t *object, const char *name, enum field_type type, enum field_need need,
               void *out, struct mcast_error *error);

/* An array (JSON_ARRAY) or object (JSON_OBJECT), or NULL. */
int field_nested(const json_t *object, const char *name, json_type type, json_t **out,
                 struct mcast_error *error);

/* flags: enum mcast_json. NULL when memory is exhausted. */
char *field_json(const json_t *root, unsigned flags);

/* ---- what the library gives to its caller ---- */

/* A struct of `size` bytes, zeroed, which keeps the JSON that it points into and the lists made of
 * it. Takes over the reference to root, also when memory is exhausted (NULL). */
void *document_create(size_t size, json_t *root);
void document_free(void *document); /* NULL is allowed */

json_t *document_root(const void *document);

/* Memory that is freed with the document, zeroed; NULL when it is exhausted. */
void *document_list(void *document, size_t count, size_t size);

/* An array of at most `max` numbers from 0 to 65,535. A missing array is an empty list. */
int document_numbers(void *document, const json_t *object, const char *name, size_t max,
                     const uint16_t **out, size_t *count, struct mcast_error *error);
