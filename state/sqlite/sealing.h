/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "base/names.h"
#include "base/secret.h"
#include "state/columns.h"
#include "tokens/seal.h"

#include <sqlite3.h>

/* Seals the tokens and keys of reservations when they are written, opens them when read. Used by
 * one thread at a time. */

struct sealing {
    const char *path; /* for messages, as is the next */
    char *key_file;
    struct seal *seal; /* NULL: nothing can be sealed */
    unsigned char sealed[SEALED_COUNT][TOKEN_MAX + SEAL_OVERHEAD];
    char plain[SEALED_COUNT][TOKEN_MAX + SEAL_OVERHEAD + 1];
};

/* Reads the key, for a ledger of this schema version. A missing one is made when nothing in the
 * ledger is sealed; else ERROR_NOT_FOUND, saying what is lost. key_file NULL: a random key, for a
 * store in memory. path outlives it. Release it in either case. */
int sealing_open(struct sealing *sealing, sqlite3 *db, int version, const char *path,
                 const char *key_file, struct error *err);
void sealing_release(struct sealing *sealing);

/* Gives db the SQL function seal_token(number, token), with which schema.c upgrades a ledger whose
 * tokens are not sealed. Returns SQLite's code. */
int sealing_define(struct sealing *sealing, sqlite3 *db);

/* Binds a secret of a reservation, until the next one in this place; none becomes NULL. Returns
 * SQLite's code. */
int sealing_bind(struct sealing *sealing, sqlite3_stmt *statement, int column, enum sealed place,
                 uint64_t number, struct secret secret);

/* The secret in a column of a reservation's row, valid until the next one in this place or
 * sealing_forget. 0, or a code and a sentence: ERROR_REFUSED (another key), ERROR_VERSION,
 * ERROR_CORRUPT. */
int sealing_open_column(struct sealing *sealing, sqlite3_stmt *statement, int column,
                        enum sealed place, uint64_t number, struct secret *secret,
                        struct error *err);
void sealing_forget(struct sealing *sealing);
