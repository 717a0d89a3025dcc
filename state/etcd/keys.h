/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/reservation/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The names of keys (docs/high-availability.md, "Keys"). Numbers in them are 16 hexadecimal digits:
 * in etcd's order, which is that of bytes, records come by ascending number. */

enum { KEY_PREFIX_MAX = 128, KEY_MAX = 720 };

struct key {
    size_t length; /* the end of a range may have a NUL */
    char text[KEY_MAX];
};

/* prefix, and a name like "/leader" or "/redo/". */
struct key key_named(const char *prefix, const char *name);

/* Of a record that is kept. Of RECORD_CLEANED: that of its RECORD_CLEANUP. */
struct key key_of(const char *prefix, const struct record *record);

/* The key of a kind that is there once; of other kinds, what all their keys begin with. */
struct key key_first(const char *prefix, enum record_kind kind);

/* The first key that a record of this number, or of a reservation of this number, can have. */
struct key key_numbered(const char *prefix, enum record_kind kind, uint64_t number);

/* The number in such a key. False: there is none. */
bool key_number(const char *prefix, enum record_kind kind, const struct key *key, uint64_t *out);

/* What belongs to the reservation is between this and key_end. */
struct key key_belonging(const char *prefix, enum record_kind kind, uint64_t number);

/* The end, which is outside, of the range of key: of all that begin with it when it ends with '/',
 * else of key alone. */
struct key key_end(const struct key *key);

/* Of the broker that has this lease, while it waits to lead. */
struct key key_broker(const char *prefix, uint64_t lease);

/* All names below a prefix, ascending; KEY_NAMES of them. One that ends with '/' is a range. */
enum { KEY_NAMES = 18 };
extern const char *const key_names[KEY_NAMES];
