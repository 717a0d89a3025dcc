/* SPDX-License-Identifier: Apache-2.0 */
#include "state/store.h"

#include "base/memory.h"
#include "state/committer.h"
#include "state/sqlite/error.h"
#include "state/sqlite/rows.h"
#include "state/sqlite/schema.h"
#include "state/sqlite/sealing.h"
#include "state/sqlite/statefile.h"
#include "state/sqlite/wal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BUSY_TIMEOUT_MS = 1000, /* for a backup that reads the file; only the thread waits */
    QUICK_CHECK_BYTES_MAX = 8 * 1024 * 1024, /* some 50 ms; G7 forbids it for large files */
};

struct sqlite {
    struct committer committer;
    char *path; /* of a store in memory what messages call it */
    int lock;   /* -1: in memory */
    sqlite3 *db;
    struct statefile_watch watch;
    struct sealing sealing;
    struct sqlite_rows rows;
};

/* On the committer's thread. */
static int write_batch(struct store *store, const struct batch *batch, struct error *err)
{
    struct sqlite *sqlite = (struct sqlite *)store;
    assert(sqlite->db);
    const int code = sqlite->lock < 0 ? 0 : statefile_watch_check(&sqlite->watch, err);
    return code ? code : sqlite_rows_write(&sqlite->rows, batch, err);
}

/* -- the store's operations -- */

/* A refused ledger and its log stay unchanged, for examination or repair: closing would checkpoint
 * the log into it. */
static void keep_log_on_close(struct sqlite *sqlite, bool leave)
{
    assert(sqlite->db);
    sqlite3_db_config(sqlite->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leave, NULL);
}

static int sqlite_load(struct store *store, store_each_fn *each, void *arg, struct error *err)
{
    struct sqlite *sqlite = (struct sqlite *)store;
    assert(sqlite->committer.in_progress == 0);
    int code = sqlite_rows_load(&sqlite->rows, each, arg, err);
    keep_log_on_close(sqlite, code != 0);
    return code;
}

static void sqlite_refuse(struct store *store, struct error *err)
{
    assert(((struct sqlite *)store)->committer.in_progress == 0);
    struct sqlite *sqlite = (struct sqlite *)store;
    keep_log_on_close(sqlite, true);
    (void)sqlite_damaged_as(err, sqlite->path);
}

static void sqlite_close(struct store *store)
{
    struct sqlite *sqlite = (struct sqlite *)store;
    committer_stop(&sqlite->committer);
    sqlite_rows_release(&sqlite->rows);
    sqlite3_close(sqlite->db);
    sealing_release(&sqlite->sealing);
    if (sqlite->lock >= 0) /* last: until here the file is in use */
        close(sqlite->lock);
    free(sqlite->path);
    free(sqlite);
}

/* -- opening -- */

static int quick_check(sqlite3 *db, const char *path, struct error *err)
{
    assert(db && path);
    struct stat status;
    char result[ERROR_TEXT_SIZE];
    if (stat(path, &status) < 0 || status.st_size > QUICK_CHECK_BYTES_MAX)
        return 0;
    int rc = sqlite_query_text(db, "PRAGMA quick_check(1)", result, sizeof result);
    if (rc != SQLITE_OK)
        return sqlite_error(err, db, rc, path);
    return strcmp(result, "ok") == 0 ? 0 : sqlite_damaged(err, path, "%s", result);
}

/* SQLite answers with the mode in force, which is another one when it could not have WAL. */
static int enable_write_ahead_log(sqlite3 *db, const char *path, struct error *err)
{
    assert(db && path);
    char mode[16];
    int rc = sqlite_query_text(db, "PRAGMA journal_mode=WAL", mode, sizeof mode);
    if (rc != SQLITE_OK)
        return sqlite_error(err, db, rc, path);
    if (strcmp(mode, "wal") == 0)
        return 0;
    return error_set(err, ERROR_IO,
                     "cannot keep a write-ahead log beside %s: put it on a local disk", path);
}

/* SQLite opens to be read what it may not write to. */
static int refuse_read_only(struct sqlite *sqlite, struct error *err)
{
    assert(sqlite->db);
    if (sqlite3_db_readonly(sqlite->db, "main") == 0)
        return 0;
    return error_set(err, ERROR_IO,
                     "%s cannot be written to: give it to the user of mcastd, mode 0600, then "
                     "start again",
                     sqlite->path);
}

/* The version is checked before anything is set: a newer file stays unchanged. A checkpoint runs
 * every 1000 pages (4 MB). While another process reads the file the log grows; it is truncated to
 * 16 MiB afterwards. */
static int open_file(struct sqlite *sqlite, const char *key_file, struct error *err)
{
    assert(sqlite->lock >= 0);
    static const char settings[] = "PRAGMA cell_size_check=ON;"
                                   "PRAGMA wal_autocheckpoint=1000;"
                                   "PRAGMA journal_size_limit=16777216;";
    int version = 0, code;
    keep_log_on_close(sqlite, true);
    sqlite3_busy_timeout(sqlite->db, BUSY_TIMEOUT_MS);
    /* Before anything is written, whatever SQLite's default: wal.c relies on it. */
    if ((code = sqlite_execute(sqlite->db, "PRAGMA synchronous=FULL", sqlite->path, err)) ||
        (code = schema_check(sqlite->db, sqlite->path, &version, err)) ||
        (code = statefile_make_private(sqlite->path, err)) ||
        (code = refuse_read_only(sqlite, err)) ||
        (code = enable_write_ahead_log(sqlite->db, sqlite->path, err)) ||
        (code = sqlite_sealing_open(&sqlite->sealing, sqlite->db, version, sqlite->path, key_file,
                                    err)) ||
        (code = schema_upgrade(sqlite->db, sqlite->path, version, err)) ||
        (code = sqlite_execute(sqlite->db, settings, sqlite->path, err)) ||
        (code = quick_check(sqlite->db, sqlite->path, err)))
        return code;
    return statefile_watch_begin(&sqlite->watch, sqlite->path, err);
}

/* What a broker may have open. One transaction, so that all tables are of one moment. */
static int open_copy(struct sqlite *sqlite, const char *key_file, struct error *err)
{
    assert(sqlite->db);
    int version = 0, code;
    keep_log_on_close(sqlite, true);
    sqlite3_busy_timeout(sqlite->db, BUSY_TIMEOUT_MS);
    if ((code = schema_check(sqlite->db, sqlite->path, &version, err)))
        return code;
    if (version < SCHEMA_VERSION)
        return error_set(err, ERROR_VERSION,
                         "%s was written by an older mcastd (schema %d, this one has %d): start "
                         "this mcastd with it once, which brings it up",
                         sqlite->path, version, SCHEMA_VERSION);
    if ((code = sqlite_sealing_open(&sqlite->sealing, sqlite->db, version, sqlite->path, key_file,
                                    err)) ||
        (code = sqlite_execute(sqlite->db, "PRAGMA cell_size_check=ON; BEGIN", sqlite->path, err)))
        return code;
    return quick_check(sqlite->db, sqlite->path, err);
}

static int open_memory(struct sqlite *sqlite, struct error *err)
{
    assert(sqlite->lock < 0);
    int code =
        sqlite_sealing_open(&sqlite->sealing, sqlite->db, SCHEMA_VERSION, sqlite->path, NULL, err);
    return code ? code : schema_upgrade(sqlite->db, sqlite->path, 0, err);
}

/* live: NULL: to be written to; else set if another process has it open. */
static int lock_file(struct sqlite *sqlite, bool *live, struct error *err)
{
    int code = sqlite->lock = statefile_lock(sqlite->path, err);
    assert(sqlite->path);
    if (live && code == ERROR_REFUSED) {
        *live = true;
        return 0;
    }
    return code < 0 || (code = statefile_prepare(sqlite->path, err)) < 0
               ? code
               : wal_check(sqlite->path, err);
}

static int open_parts(struct sqlite *sqlite, const char *file, const char *key_file, bool *live,
                      struct error *err)
{
    assert(sqlite->path && !sqlite->db);
    int code = key_file ? lock_file(sqlite, live, err) : 0;
    if (code < 0)
        return code;
    /* A copy alone with the file leaves no log behind, by which it would be missed if it moved. */
    const bool shared = live && *live;
    const int mode = shared ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    int rc = sqlite3_open_v2(file, &sqlite->db, mode | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK)
        return sqlite_error(err, sqlite->db, rc, sqlite->path);
    sqlite3_extended_result_codes(sqlite->db, 1);
    code = live       ? open_copy(sqlite, key_file, err)
           : key_file ? open_file(sqlite, key_file, err)
                      : open_memory(sqlite, err);
    if (code ||
        (code = sqlite_rows_init(&sqlite->rows, sqlite->db, sqlite->path, &sqlite->sealing, err)) ||
        (code = live ? 0 : committer_start(&sqlite->committer, "state", write_batch, err)))
        return code;
    keep_log_on_close(sqlite, shared);
    return 0;
}

/* Takes path. file: as SQLite names it. key_file NULL: in memory. live: as lock_file. */
static struct store *open_store(char *path, const char *file, const char *key_file, bool *live,
                                struct error *err)
{
    assert(path && file);
    static const struct store_ops ops = {
        .load = sqlite_load,
        .refuse = sqlite_refuse,
        .commit = committer_commit,
        .offer = committer_offer,
        .withdraw = committer_withdraw,
        .fd = committer_fd,
        .dispatch = committer_dispatch,
        .close = sqlite_close,
    };
    struct sqlite *sqlite = memory_zeroed(sizeof *sqlite);
    sqlite->committer.store.ops = &ops;
    sqlite->path = path;
    sqlite->lock = -1;
    if (open_parts(sqlite, file, key_file, live, err) == 0)
        return &sqlite->committer.store;
    sqlite_close(&sqlite->committer.store);
    return NULL;
}

static struct store *open_ledger(const char *path, const char *key_file, bool *live,
                                 struct error *err)
{
    assert(path && key_file);
    char *resolved = statefile_resolve(path);
    if (resolved)
        return open_store(resolved, resolved, key_file, live, err);
    (void)error_set(err, ERROR_IO, "cannot open %s: %s", path, strerror(errno));
    return NULL;
}

struct store *store_sqlite_open(const char *path, const char *key_file, struct error *err)
{
    return open_ledger(path, key_file, NULL, err);
}

struct store *store_sqlite_open_copy(const char *path, const char *key_file, bool *live,
                                     struct error *err)
{
    assert(live);
    *live = false;
    if (access(path, F_OK) == 0)
        return open_ledger(path, key_file, live, err);
    (void)error_set(err, ERROR_NOT_FOUND, "%s: %s: there is no ledger", path, strerror(errno));
    return NULL;
}

struct store *store_memory_open(struct error *err)
{
    return open_store(memory_text("the store in memory"), ":memory:", NULL, NULL, err);
}
