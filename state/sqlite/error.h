#ifndef MCAST_STATE_SQLITE_ERROR_H
#define MCAST_STATE_SQLITE_ERROR_H

#include "base/error.h"

#include <sqlite3.h>

/* Says what SQLite's code rc, which db has just returned for the file at path, means to the
 * person who runs the broker, and what to do next. Returns ERROR_FULL, ERROR_CORRUPT, ERROR_NOMEM
 * or ERROR_IO. Call it before anything else is done with db. */
int sqlite_error(struct error *err, sqlite3 *db, int rc, const char *path);

/* The same for what SQLite does not notice by itself: "path is damaged (…)", with what there is to
 * do. Returns ERROR_CORRUPT. */
__attribute__((format(printf, 3, 4))) int sqlite_damaged(struct error *err, const char *path,
                                                         const char *format, ...);

/* The same, with what err says already. */
int sqlite_damaged_as(struct error *err, const char *path);

#endif
