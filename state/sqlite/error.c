/* SPDX-License-Identifier: Apache-2.0 */
#include "state/sqlite/error.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SQLite reports ENOSPC as SQLITE_FULL; a quota and a file size limit count as full, too. */
static bool is_full(int rc, int number)
{
    assert(rc != SQLITE_OK && number >= 0);
    if ((rc & 0xff) == SQLITE_FULL)
        return true;
    return (rc & 0xff) == SQLITE_IOERR && (number == ENOSPC || number == EDQUOT || number == EFBIG);
}

/* The errno of the last failed file operation, 0: not known. A failure within COMMIT does not reach
 * sqlite3_system_errno, so the files are asked, the log first. */
static int last_errno(sqlite3 *db)
{
    int number = 0;
    sqlite3_file *log = NULL;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK && log &&
        log->pMethods)
        log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
    if (number == 0)
        sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    return number ? number : sqlite3_system_errno(db);
}

/* SQLite writes reports of many lines, and quotes a damaged file. */
static void make_printable(char *text)
{
    assert(text);
    for (; *text != '\0'; text++)
        if (*text < ' ' || *text > '~')
            *text = *text == '\n' ? ' ' : '?';
}

int sqlite_damaged(struct error *err, const char *path, const char *format, ...)
{
    assert(path && format);
    char what[ERROR_TEXT_SIZE / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    make_printable(what);
    return error_set(err, ERROR_CORRUPT,
                     "%s is damaged (%s): restore it from a backup, or move it away to start with "
                     "nothing",
                     path, what);
}

int sqlite_damaged_as(struct error *err, const char *path)
{
    assert(err->code < 0);
    char what[ERROR_TEXT_SIZE];
    memcpy(what, err->text, sizeof what);
    return sqlite_damaged(err, path, "%s", what);
}

int sqlite_error(struct error *err, sqlite3 *db, int rc, const char *path)
{
    assert(rc != SQLITE_OK);
    const char *words = sqlite3_errstr(rc);
    char details[ERROR_TEXT_SIZE / 2];
    int number = last_errno(db);
    if (is_full(rc, number)) {
        if ((rc & 0xff) == SQLITE_FULL)
            number = ENOSPC;
        return error_set(err, ERROR_FULL, "cannot write %s: %s (%s): make room on its disk", path,
                         words, strerror(number));
    }
    switch (rc & 0xff) {
    case SQLITE_NOTADB:
        return error_set(err, ERROR_CORRUPT,
                         "%s is not a state file (%s): check the path, or restore the file from a "
                         "backup",
                         path, words);
    case SQLITE_CORRUPT:
        return sqlite_damaged(err, path, "%s", words);
    case SQLITE_NOMEM:
        return error_set(err, ERROR_NOMEM, "out of memory while using %s", path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_set(err, ERROR_IO, "cannot write %s: %s: another program has it open, end it",
                         path, words);
    case SQLITE_IOERR:
        return error_set(err, ERROR_IO,
                         "cannot read or write %s: %s (%s): look for errors of its disk", path,
                         words, strerror(number));
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
        return error_set(err, ERROR_IO,
                         "cannot open %s: %s (%s): it and its folder must be writable for the user "
                         "of mcastd",
                         path, words, strerror(number));
    default:
        snprintf(details, sizeof details, "%s", sqlite3_errmsg(db));
        make_printable(details);
        return error_set(err, ERROR_IO, "cannot use %s: %s (%s)", path, words, details);
    }
}

int sqlite_execute(sqlite3 *db, const char *sql, const char *path, struct error *err)
{
    assert(db && sql);
    const int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : sqlite_error(err, db, rc, path);
}

int sqlite_query_text(sqlite3 *db, const char *sql, char *out, size_t size)
{
    assert(size > 0);
    sqlite3_stmt *statement;
    int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    out[0] = '\0';
    if (rc != SQLITE_OK)
        return rc;
    const unsigned char *text =
        sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_text(statement, 0) : NULL;
    snprintf(out, size, "%s", text ? (const char *)text : "");
    return sqlite3_finalize(statement); /* the code of the step, when it failed */
}

int sqlite_query_number(sqlite3 *db, const char *sql, sqlite3_int64 *number)
{
    assert(number);
    char text[24];
    int rc = sqlite_query_text(db, sql, text, sizeof text);
    *number = strtoll(text, NULL, 10);
    return rc;
}
