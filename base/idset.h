/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A set of 16-bit ids, as text "1024-2047,4096". Lives in place; 8 KiB. */

enum { IDSET_WORDS = 65536 / 64 };

struct idset {
    uint64_t words[IDSET_WORDS];
    uint32_t count;
};

void idset_init(struct idset *set);

/* Ids and ranges, ascending within a range, in any order, separated by commas, blanks allowed
 * around each. Empty text is the empty set. 0 or ERROR_INVALID; on error the set is unchanged. */
int idset_parse(struct idset *set, const char *text, struct error *err);

/* The shortest text, ascending. */
void idset_print(FILE *out, const struct idset *set);

bool idset_has(const struct idset *set, uint16_t id);
void idset_add(struct idset *set, uint16_t id);
void idset_remove(struct idset *set, uint16_t id);

/* The ids of another set: all of them come, go, or are all that stays. */
void idset_add_all(struct idset *set, const struct idset *other);
void idset_remove_all(struct idset *set, const struct idset *other);
void idset_keep_only(struct idset *set, const struct idset *other);
bool idset_equal(const struct idset *a, const struct idset *b);
/* How many are in both. */
uint32_t idset_common(const struct idset *a, const struct idset *b);

/* The smallest id ≥ from, wrapping to the smallest of all; -1 when empty. */
int idset_next(const struct idset *set, uint32_t from);
