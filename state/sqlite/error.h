/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <sqlite3.h>
#include <stddef.h>

/* Explains SQLite's code rc, which db has just returned for the file at path, and the next step.
 * Returns ERROR_FULL, ERROR_CORRUPT, ERROR_NOMEM or ERROR_IO. Call it before any other use of db.
 */
int sqlite_error(struct error *err, sqlite3 *db, int rc, const char *path);

/* The same for what SQLite does not notice: "path is damaged (…)" and the next step. Returns
 * ERROR_CORRUPT. */
__attribute__((format(printf, 3, 4))) int sqlite_damaged(struct error *err, const char *path,
                                                         const char *format, ...);

/* The same, with what err says already. */
int sqlite_damaged_as(struct error *err, const char *path);

/* Runs statements without rows. 0, or as sqlite_error. */
int sqlite_execute(sqlite3 *db, const char *sql, const char *path, struct error *err);

/* The first column of the first row of a query, "" when there is none. Returns SQLite's code. */
int sqlite_query_text(sqlite3 *db, const char *sql, char *out, size_t size);
int sqlite_query_number(sqlite3 *db, const char *sql, sqlite3_int64 *number);
