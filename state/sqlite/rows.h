/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "state/sealing.h"
#include "state/store.h"

#include <sqlite3.h>

/* Records to rows and back, with statements that are prepared once. Used by one thread at a time.
 */

enum { SQLITE_ROWS_STATEMENTS = 22 };

struct sqlite_rows {
    sqlite3 *db;
    const char *path; /* for messages */
    struct sealing *sealing;
    sqlite3_stmt *statements[SQLITE_ROWS_STATEMENTS];
};

/* Prepares; db, path and sealing stay with the caller and outlive rows. Fails with ERROR_CORRUPT
 * when the tables are not those of schema.c. Release it in either case. */
int sqlite_rows_init(struct sqlite_rows *rows, sqlite3 *db, const char *path,
                     struct sealing *sealing, struct error *err);

/* One transaction: the records in order, then the counters. On failure it is rolled back. Returns
 * 0, ERROR_FULL or ERROR_IO. */
int sqlite_rows_write(struct sqlite_rows *rows, const struct batch *batch, struct error *err);

/* As store_load. Every row is checked: ERROR_CORRUPT names the first one that no broker wrote;
 * errors of tokens are those of sqlite_sealing_read. */
int sqlite_rows_load(struct sqlite_rows *rows, store_each_fn *each, void *arg, struct error *err);

void sqlite_rows_release(struct sqlite_rows *rows);
