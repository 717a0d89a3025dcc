/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "state/etcd/keys.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The JSON of etcd's gateway: what requests are made of, and what answers hold. Bytes are base64;
 * in answers 64-bit numbers are strings, and what is 0, false or empty is left out. */

json_t *wire_key(const struct key *key); /* of NULL: NULL */

/* Operations. lease 0: none. end NULL: one key; else that and all before end. */
json_t *wire_put(const struct key *key, const char *value, size_t length, uint64_t lease);
json_t *wire_delete(const struct key *key, const struct key *end);
json_t *wire_range(const struct key *key, const struct key *end, int limit); /* the first ones */
json_t *wire_any(const struct key *key, const struct key *end);              /* its name */

void wire_add(json_t *list, json_t *operation); /* which it takes; NULL: out of memory */

/* Conditions: the key was put more often than that since it was created; all keys of the range were
 * created at this revision (0: there is none); the value. */
json_t *wire_if_created(const struct key *key, const struct key *end, uint64_t revision);
json_t *wire_if_after(const struct key *key, uint64_t version);
json_t *wire_if_value(const struct key *key, const char *value);

/* The text of it, to be freed; takes the request. NULL: out of memory. */
char *wire_text(json_t *request);

/* ---- answers ---- */

/* A number in a string. False: another thing is there. */
bool wire_number(const json_t *object, const char *name, uint64_t *out);

struct wire_kv {
    struct key key; /* cut, if it is too long for one of ours */
    char *value;    /* to be freed; ended by a NUL, which the length does not count */
    size_t value_length;
    uint64_t created, lease, version; /* version: how often it was put since */
};

/* The key at this place of a range's answer: 1; 0: there are not so many; -1: no such answer. */
int wire_kv(const json_t *range, size_t at, struct wire_kv *out);
int wire_head(const json_t *range, size_t at, struct wire_kv *out); /* without its value: NULL */

/* The answer to the operation at this place of a transaction; NULL: there is none. */
const json_t *wire_ranged(const json_t *transaction, size_t at);
