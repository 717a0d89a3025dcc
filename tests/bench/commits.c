/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/commits.h"

#include "tests/bench/sample.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROW_SIZE = 200, PATH_SIZE = 256, FIRST_ROWS = 30000 };

static int insert(sqlite3_stmt *statement, size_t number)
{
    char row[ROW_SIZE];

    memset(row, 'x', sizeof row);
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)number);
    sqlite3_bind_blob(statement, 2, row, sizeof row, SQLITE_STATIC);
    const int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : -1;
}

/* Many rows at once, so that the log has its full length: while it grows, each commit also pays for
 * the length of the file. */
static int fill(sqlite3 *db, sqlite3_stmt *statement)
{
    sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
    for (size_t i = 0; i < FIRST_ROWS; i++)
        if (insert(statement, i) < 0)
            return -1;
    return sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ? 0 : -1;
}

static int measure(sqlite3 *db, size_t count, int64_t *times_ns)
{
    sqlite3_stmt *statement = NULL;
    int result = -1;

    if (sqlite3_exec(db,
                     "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                     "CREATE TABLE rows(number INTEGER PRIMARY KEY, body BLOB NOT NULL)",
                     NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "INSERT INTO rows VALUES(?,?)", -1, &statement, NULL) == SQLITE_OK)
        result = fill(db, statement);
    for (size_t i = 0; result == 0 && i < count; i++) {
        const int64_t began = await_now_ns();

        result = insert(statement, FIRST_ROWS + i);
        times_ns[i] = await_now_ns() - began;
    }
    sqlite3_finalize(statement);
    return result;
}

int64_t commits_median_ns(const char *folder, size_t count)
{
    char path[PATH_SIZE];
    sqlite3 *db = NULL;
    int64_t median = -1, *times_ns = calloc(count, sizeof *times_ns);

    folder_path(path, sizeof path, folder, "commits.db");
    unlink(path);
    if (times_ns && sqlite3_open(path, &db) == SQLITE_OK && measure(db, count, times_ns) == 0) {
        sample_sort(times_ns, count);
        median = times_ns[count / 2];
    } else {
        fprintf(stderr, "%s: %s\n", path, db ? sqlite3_errmsg(db) : "out of memory");
    }
    sqlite3_close(db);
    free(times_ns);
    return median;
}
