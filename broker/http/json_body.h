#ifndef MCAST_BROKER_HTTP_JSON_BODY_H
#define MCAST_BROKER_HTTP_JSON_BODY_H

#include "broker/http/problem.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reading JSON that comes from outside. Everything that is not exactly as asked for becomes a
 * problem that says where and what is allowed. */

/* The object that the body is: a new reference, or NULL with a 400 that names line and column. A
 * name given twice, invalid UTF-8 and NUL are errors too. */
json_t *json_body_parse(const char *body, size_t length, struct problem *problem);

/* Whether it has no members but these (NULL-terminated): else -1 with a 422. */
int json_body_check_names(json_t *object, const char *const *names, struct problem *problem);

/* A member that may be missing: *found tells. -1 with a 422: not a whole number of min–max. */
int json_body_number(json_t *object, const char *name, uint32_t min, uint32_t max, uint32_t *value,
                     bool *found, struct problem *problem);

/* The same for text; NULL when missing. Borrowed from the object. */
int json_body_text(json_t *object, const char *name, const char **value, struct problem *problem);

/* "a number", "text", "a list", …: what a value is, for people. */
const char *json_body_kind(const json_t *value);

#endif
