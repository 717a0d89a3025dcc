/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "state/etcd/keys.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The JSON of etcd's gateway: requests are written as text, answers read with jansson. Bytes are
 * base64, 64-bit numbers strings; what is 0, false or empty is left out of answers. */

struct wire {
    FILE *out;
    char *text; /* valid after wire_finish */
    size_t length;
    bool separate; /* the next thing of a list follows another one */
};

void wire_start(struct wire *wire);
__attribute__((format(printf, 2, 3))) void wire_add(struct wire *wire, const char *format, ...);
void wire_finish(struct wire *wire);
void wire_release(struct wire *wire); /* also of one that was finished */

/* A list begins after `format` and ends with wire_add. Within lists: */
__attribute__((format(printf, 2, 3))) void wire_list(struct wire *wire, const char *format, ...);

/* Operations. lease 0: none. end NULL: one key; limit 0: none. */
void wire_put(struct wire *wire, const struct key *key, const char *value, size_t length,
              uint64_t lease);
void wire_delete(struct wire *wire, const struct key *key, const struct key *end);
void wire_range(struct wire *wire, const struct key *key, const struct key *end, unsigned limit);
void wire_any(struct wire *wire, const struct key *key, const struct key *end); /* one key's name */

/* Conditions: it was put more often than that since it was created; all keys of the range were
 * created at this revision (0: there is none); the value. */
void wire_if_created(struct wire *wire, const struct key *key, const struct key *end,
                     uint64_t revision);
void wire_if_after(struct wire *wire, const struct key *key, uint64_t version);
void wire_if_value(struct wire *wire, const struct key *key, const char *value);

/* "name":"base64" */
void wire_bytes(struct wire *wire, const char *name, const char *bytes, size_t length);

/* ---- answers ---- */

/* A number in a string. False: another thing is there. */
bool wire_number(const json_t *object, const char *name, uint64_t *out);

struct wire_kv {
    char *key, *value; /* ended by a NUL, which the lengths do not count */
    size_t key_length, value_length;
    uint64_t created, lease, version; /* version: how often it was put since */
};

/* The key at this place of a range's answer: 1; 0: there are not so many; -1: no such answer. To be
 * released when it is 1. */
int wire_kv(const json_t *range, size_t at, struct wire_kv *out);
void wire_kv_release(struct wire_kv *kv);

/* The answer to the operation at this place of a transaction; NULL: there is none. */
const json_t *wire_ranged(const json_t *transaction, size_t at);
