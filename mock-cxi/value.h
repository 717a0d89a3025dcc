/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Keys and values of cxi.conf, in a table for each kind of section. All functions return 0, or
 * ERROR_INVALID with what is allowed. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* One key, and the field of the section's struct that it sets. */
struct value_key {
    const char *key;
    int (*read)(const struct value_key *key, const char *text, void *field, struct error *err);
    size_t offset, size;
    uint64_t min, max;    /* of a number */
    const char *yes, *no; /* of a bool */
};

#define VALUE_KEY(name, reader, type, member)                                                      \
    {                                                                                              \
        .key = name, .read = reader, .offset = offsetof(type, member)                              \
    }
#define VALUE_NUMBER(name, type, member, least, most)                                              \
    {                                                                                              \
        .key = name, .read = value_read_number, .offset = offsetof(type, member),                  \
        .size = sizeof(((type *)NULL)->member), .min = least, .max = most                          \
    }
#define VALUE_BOOL(name, type, member, word, other)                                                \
    {                                                                                              \
        .key = name, .read = value_read_bool, .offset = offsetof(type, member), .yes = word,       \
        .no = other                                                                                \
    }

/* Sets the field of this key; `what` is the section in the error for a key that it has not. */
int value_set(const struct value_key *keys, size_t count, const char *what, void *section,
              const char *key, const char *text, struct error *err);

/* Readers: an unsigned field of 2, 4 or 8 bytes; a bool; milliseconds, of a number and its
 * unit, ms, s, m or h, of at most a year; an errno. */
int value_read_number(const struct value_key *key, const char *text, void *field,
                      struct error *err);
int value_read_bool(const struct value_key *key, const char *text, void *field, struct error *err);
int value_read_duration(const struct value_key *key, const char *text, void *field,
                        struct error *err);
int value_read_errno(const struct value_key *key, const char *text, void *field, struct error *err);

/* Decimal, or hexadecimal after 0x; min <= *out <= max. */
int value_number(const char *text, uint64_t min, uint64_t max, uint64_t *out, struct error *err);
