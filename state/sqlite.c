#include "state/store.h"

#include "state/batch.h"
#include "state/commit.h"
#include "state/filelock.h"
#include "state/schema.h"
#include "state/sqlite_error.h"
#include "state/sqlite_rows.h"
#include "state/worker.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUSY_TIMEOUT_MS = 1000, /* somebody's backup holds the file; the loop never waits */
    QUICK_CHECK_BYTES_MAX = 8 * 1024 * 1024, /* some 50 ms; G7 forbids it for large files */
};

struct sqlite {
    struct store store;
    char *path;
    int lock;
    sqlite3 *db;
    struct sqlite_rows rows;
    struct worker *worker;
    struct commit commit;
};

static int sqlite_load(struct store *store, int (*each)(void *, const struct record *), void *arg,
                       struct error *err)
{
    struct sqlite *sqlite = (struct sqlite *)store;
    assert(!sqlite->commit.batch);
    return sqlite_rows_load(&sqlite->rows, each, arg, err);
}

/* In the worker's thread. */
static void write_batch(void *arg)
{
    struct sqlite *sqlite = arg;
    struct commit *commit = &sqlite->commit;
    commit_end(commit, sqlite_rows_write(&sqlite->rows, commit->batch, &commit->result.error));
}

static void sqlite_commit(struct store *store, struct batch *batch, store_done_fn *done, void *arg)
{
    struct sqlite *sqlite = (struct sqlite *)store;
    commit_begin(&sqlite->commit, batch, done, arg);
    worker_start(sqlite->worker);
}

static int sqlite_fd(const struct store *store)
{
    return worker_fd(((const struct sqlite *)store)->worker);
}

static void sqlite_dispatch(struct store *store)
{
    struct sqlite *sqlite = (struct sqlite *)store;
    if (worker_collect(sqlite->worker))
        commit_report(&sqlite->commit);
}

static void sqlite_close(struct store *store)
{
    struct sqlite *sqlite = (struct sqlite *)store;
    worker_destroy(sqlite->worker);
    commit_drop(&sqlite->commit);
    sqlite_rows_release(&sqlite->rows);
    sqlite3_close(sqlite->db);
    if (sqlite->lock >= 0) /* the last: until here the file is in use */
        close(sqlite->lock);
    free(sqlite->path);
    free(sqlite);
}

/* What path names in the end, so that a symbolic link to the file does not get a lock of its own;
 * path itself when there is nothing yet. Always with a '/': SQLite has a meaning of its own for
 * some names without. */
static char *resolve(const char *path)
{
    char *resolved = realpath(path, NULL);
    if (!resolved && errno == ENOENT &&
        asprintf(&resolved, "%s%s", strchr(path, '/') ? "" : "./", path) < 0)
        return NULL;
    return resolved;
}

/* 1 there, 0 missing, negative: cannot tell. *status is set when it is there. */
static int find(const char *path, const char *suffix, struct stat *status, struct error *err)
{
    char *name;
    if (asprintf(&name, "%s%s", path, suffix) < 0)
        return error_set(err, ERROR_NOMEM, "out of memory while opening %s", path);
    int found = 1;
    if (stat(name, status) < 0)
        found = errno == ENOENT
                    ? 0
                    : error_set(err, ERROR_IO, "cannot open %s: %s", name, strerror(errno));
    /* A copy brought back from a backup may be readable for all, and it holds tokens. */
    else if (S_ISREG(status->st_mode) && (status->st_mode & 0777) != 0600 && chmod(name, 0600) < 0)
        found = error_set(err, ERROR_IO, "cannot make %s private to its owner: %s", name,
                          strerror(errno));
    free(name);
    return found;
}

static uint32_t big_endian(const unsigned char *bytes, int count)
{
    uint32_t value = 0;
    for (int i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* True when the file is smaller than its own header says. SQLite notices whole pages only, and
 * reads what is missing of the last one as zeros. (sqlite.org/fileformat2.html, 1.3) */
static bool is_cut_short(const char *path, off_t size)
{
    enum { PAGE_SIZE_AT = 16, PAGE_COUNT_AT = 28 };
    unsigned char header[PAGE_COUNT_AT + 4];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : pread(fd, header, sizeof header, 0);
    if (fd >= 0)
        close(fd);
    if (length != (ssize_t)sizeof header || memcmp(header, "SQLite format 3", 16) != 0)
        return false; /* not for its size: SQLite has the words for it */
    uint32_t page_size = big_endian(header + PAGE_SIZE_AT, 2);
    if (page_size == 1)
        page_size = 65536;
    return size < (off_t)page_size * big_endian(header + PAGE_COUNT_AT, 4);
}

/* Leaves a whole file at path, or says why not. */
static int prepare_file(const char *path, struct error *err)
{
    struct stat status = {0}, log_status = {0}, index_status = {0};
    int file = find(path, "", &status, err);
    int log = file < 0 ? file : find(path, "-wal", &log_status, err);
    int index = log < 0 ? log : find(path, "-shm", &index_status, err);
    if (index < 0)
        return index;
    if (file && !S_ISREG(status.st_mode))
        return error_set(err, ERROR_INVALID, "%s is not a regular file: check the path", path);
    /* We never leave an empty file, so this one lost what it had (peers.md). SQLite would begin
     * anew without a word, as it would with a log whose file is gone. */
    if (file && status.st_size == 0)
        return error_set(err, ERROR_CORRUPT,
                         "%s is empty, its contents are lost: restore it from a backup, or remove "
                         "it to start with nothing",
                         path);
    if (!file && log)
        return error_set(err, ERROR_CORRUPT,
                         "%s is missing, but its log %s-wal is there: put the file back, or remove "
                         "both to start with nothing",
                         path, path);
    /* With a log, the log may hold the pages that are missing: a checkpoint was interrupted. */
    if (file && !(log && log_status.st_size > 0) && is_cut_short(path, status.st_size))
        return error_set(err, ERROR_CORRUPT,
                         "%s is damaged (it was cut short): restore it from a backup, or move it "
                         "away to start with nothing",
                         path);
    return file ? 0 : schema_create(path, err);
}

static int quick_check(sqlite3 *db, const char *path, struct error *err)
{
    struct stat status;
    if (stat(path, &status) < 0 || status.st_size > QUICK_CHECK_BYTES_MAX)
        return 0;
    sqlite3_stmt *statement;
    int rc = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &statement, NULL);
    int code = 0;
    if (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        rc = SQLITE_OK;
        const char *words = (const char *)sqlite3_column_text(statement, 0);
        if (!words || strcmp(words, "ok") != 0)
            code = error_set(err, ERROR_CORRUPT,
                             "%s is damaged (%s): restore it from a backup, or move it away to "
                             "start with nothing",
                             path, words ? words : "no words");
    }
    if (rc != SQLITE_OK)
        code = sqlite_error(err, db, rc, path);
    sqlite3_finalize(statement);
    return code;
}

/* SQLite answers with the mode that it kept when it could not have this one. */
static int write_ahead(sqlite3 *db, const char *path, struct error *err)
{
    sqlite3_stmt *statement;
    int rc = sqlite3_prepare_v2(db, "PRAGMA journal_mode=WAL", -1, &statement, NULL);
    int code = 0;
    if (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        rc = SQLITE_OK;
        const char *mode = (const char *)sqlite3_column_text(statement, 0);
        if (!mode || strcmp(mode, "wal") != 0)
            code =
                error_set(err, ERROR_IO,
                          "cannot keep a write-ahead log beside %s: put it on a local disk", path);
    }
    if (rc != SQLITE_OK)
        code = sqlite_error(err, db, rc, path);
    sqlite3_finalize(statement);
    return code;
}

/* The version is looked at before anything is set: a newer file is left as it is. */
static int open_database(struct sqlite *sqlite, struct error *err)
{
    static const char settings[] = "PRAGMA cell_size_check=ON;"
                                   "PRAGMA synchronous=FULL;"
                                   "PRAGMA wal_autocheckpoint=1000;";
    int rc = sqlite3_open_v2(sqlite->path, &sqlite->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                             NULL);
    if (rc != SQLITE_OK)
        return sqlite_error(err, sqlite->db, rc, sqlite->path);
    sqlite3_extended_result_codes(sqlite->db, 1);
    sqlite3_busy_timeout(sqlite->db, BUSY_TIMEOUT_MS);
    int code = schema_open(sqlite->db, sqlite->path, err);
    if (code == 0)
        code = write_ahead(sqlite->db, sqlite->path, err);
    if (code < 0)
        return code;
    rc = sqlite3_exec(sqlite->db, settings, NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        return sqlite_error(err, sqlite->db, rc, sqlite->path);
    return quick_check(sqlite->db, sqlite->path, err);
}

static int start_worker(struct sqlite *sqlite, struct error *err)
{
    sqlite->worker = worker_create(write_batch, sqlite);
    if (!sqlite->worker)
        return error_set(err, ERROR_NOMEM, "cannot start the thread that writes %s: %s",
                         sqlite->path, strerror(errno));
    return 0;
}

struct store *store_sqlite_open(const char *path, struct error *err)
{
    static const struct store_ops ops = {
        .load = sqlite_load,
        .commit = sqlite_commit,
        .fd = sqlite_fd,
        .dispatch = sqlite_dispatch,
        .close = sqlite_close,
    };
    struct sqlite *sqlite = calloc(1, sizeof *sqlite);
    if (!sqlite) {
        error_set(err, ERROR_NOMEM, "out of memory while opening %s", path);
        return NULL;
    }
    sqlite->store.ops = &ops;
    sqlite->lock = -1;
    if (!(sqlite->path = resolve(path))) {
        error_set(err, ERROR_IO, "cannot open %s: %s", path, strerror(errno));
        goto fail;
    }
    if ((sqlite->lock = filelock_take(sqlite->path, err)) < 0 ||
        prepare_file(sqlite->path, err) < 0 || open_database(sqlite, err) < 0 ||
        sqlite_rows_init(&sqlite->rows, sqlite->db, sqlite->path, err) < 0 ||
        start_worker(sqlite, err) < 0)
        goto fail;
    return &sqlite->store;
fail:
    sqlite_close(&sqlite->store);
    return NULL;
}
