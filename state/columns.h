/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/reservation/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a record of each kind is made of: one table for copying, for writing and reading rows, and
 * for what values are possible. */

enum column_type {
    COLUMN_NUMBER,
    COLUMN_TEXT,
    COLUMN_TOKEN, /* a text; sealed on disk */
};

enum sealed {
    SEALED_TOKEN,
    SEALED_KEY,
    SEALED_ROOT_KEYS, /* of no reservation: where they are kept with the ledger; number 1 */
    SEALED_COUNT
};

struct column {
    const char *name; /* on disk */
    size_t offset;    /* in struct record */
    enum column_type type;
    const char *fault;                  /* the sentence about a value that is not possible */
    size_t size;                        /* a number's, in bytes */
    int64_t min, max;                   /* of a number; they fit into size */
    bool required;                      /* a text that is never NULL */
    bool (*possible)(const char *text); /* NULL: any text is */
    enum sealed sealed;                 /* TOKEN: which of a reservation's */
};

#define RECORD_KINDS (RECORD_NODE_NICS_GONE + 1)

/* The first so many are the key of what is replaced or deleted. */
struct columns {
    const char *word; /* what the kind is called; NULL: only said to a store, never kept */
    const struct column *all;
    size_t count;
};

extern const struct columns record_columns[RECORD_KINDS];

int64_t column_number(const struct column *column, const struct record *record);
const char *column_text(const struct column *column, const struct record *record);

/* The value is within the column's limits. */
void column_set_number(const struct column *column, struct record *record, int64_t value);
void column_set_text(const struct column *column, struct record *record, const char *text);

/* Whether the record's value in it can be. */
bool column_possible(const struct column *column, const struct record *record);

/* What is impossible about a record, naming the column; NULL: nothing. In a record to be written it
 * is a bug, in one that was read it is damage. */
const char *record_fault(const struct record *record);
/* The part of it that is not of one column alone. */
const char *record_misfit(const struct record *record);
