/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "state/sealing.h"

#include <sqlite3.h>

/* Sealed secrets in the columns of SQLite's tables. */

/* Reads the key, for a ledger of this schema version. A missing one is made when nothing in the
 * ledger is sealed; else ERROR_NOT_FOUND, saying what is lost. key_file NULL: a random key, for a
 * store in memory. path outlives sealing, which is all zero. Release it in either case. */
int sqlite_sealing_open(struct sealing *sealing, sqlite3 *db, int version, const char *path,
                        const char *key_file, struct error *err);

/* Gives db the SQL function seal_token(number, token), with which schema.c upgrades a ledger whose
 * tokens are not sealed. Returns SQLite's code. */
int sqlite_sealing_define(struct sealing *sealing, sqlite3 *db);

/* Binds a secret of a reservation, until the next one in this place; none becomes NULL. Returns
 * SQLite's code. */
int sqlite_sealing_bind(struct sealing *sealing, sqlite3_stmt *statement, int column,
                        enum sealed place, uint64_t number, struct secret secret);

/* The secret in a column of a reservation's row, as sealing_unwrap; none when it is NULL. */
int sqlite_sealing_read(struct sealing *sealing, sqlite3_stmt *statement, int column,
                        enum sealed place, uint64_t number, struct secret *secret,
                        struct error *err);
