/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_REQUEST_BODY_H
#define MCAST_BROKER_HTTP_REQUEST_BODY_H

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

/* 0; or -1 with a 422 for a field that is none of the names (NULL-terminated). */
int body_check_names(const json_t *object, const char *const *names, struct problem *problem);

/* The value of a field: 0, or -1 with a 422. NULL, for a field that is missing: *out is kept. The
 * text belongs to the value. */
int body_text(const json_t *value, const char *field, const char **out, struct problem *problem);
int body_number(const json_t *value, const char *field, int64_t min, int64_t max, int64_t *out,
                struct problem *problem);

#endif
