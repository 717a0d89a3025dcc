#include "state/store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool has_log(const char *path)
{
    char *log;
    struct stat found;
    if (asprintf(&log, "%s-wal", path) < 0)
        return true;
    bool there = stat(log, &found) == 0 && found.st_size > 0;
    free(log);
    return there;
}

/* SQLite's name for a file that it shall read as it lies there; NULL: out of memory. */
static char *unchanging(const char *path)
{
    char *uri = sqlite3_mprintf("file:%s?immutable=1", path);
    for (const char *at = path; uri != NULL && *at != '\0'; at++) {
        if (*at != '%' && *at != '?' && *at != '#')
            continue;
        sqlite3_free(uri); /* these would have to be encoded: nobody names a ledger so */
        return NULL;
    }
    return uri;
}

bool store_sqlite_sealed(const char *path)
{
    struct stat found;
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    bool none = false;
    if (stat(path, &found) < 0)
        return false;
    if (has_log(path))
        return true; /* what a crash left, or a broker is writing */
    char *uri = unchanging(path);
    if (uri != NULL &&
        sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "SELECT 1 FROM reservation WHERE token IS NOT NULL", -1, &statement,
                           NULL) == SQLITE_OK)
        none = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_finalize(statement);
    sqlite3_close(db);
    sqlite3_free(uri);
    return !none;
}
