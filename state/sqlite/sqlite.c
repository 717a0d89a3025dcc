/* SPDX-License-Identifier: Apache-2.0 */
#include "state/store.h"

#include "base/memory.h"
#include "state/batch.h"
#include "state/sqlite/error.h"
#include "state/sqlite/rows.h"
#include "state/sqlite/schema.h"
#include "state/sqlite/sealing.h"
#include "state/sqlite/statefile.h"
#include "state/sqlite/wal.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    BUSY_TIMEOUT_MS = 1000, /* for a backup that reads the file; only the thread waits */
    QUICK_CHECK_BYTES_MAX = 8 * 1024 * 1024, /* some 50 ms; G7 forbids it for large files */
};

/* From store_commit to the caller's done. All zero: none. */
struct commit {
    struct batch *batch;
    store_done_fn *done;
    void *arg;
    int64_t began_us;
    struct commit_result result;
};

/* The thread writes commits, one at a time, and signals the end of each by an eventfd. Owner and
 * thread take turns, so the fields need no lock: what either wrote before it posted `wake` or the
 * eventfd, the other sees after. Either begins a commit, the thread ends it, the owner reports it.
 */
struct sqlite {
    struct store store;
    char *path; /* of a store in memory what messages call it */
    int lock;   /* -1: in memory */
    sqlite3 *db;
    struct statefile_watch watch;
    struct sealing sealing;
    struct sqlite_rows rows;
    bool has_thread;
    pthread_t thread;
    sem_t wake;
    bool started; /* set by the owner, cleared by the thread; unset at a wake-up: exit */
    int ended;    /* eventfd: counts commits to be reported */
    struct commit commits[2]; /* alternating: the thread may write one while one is reported */
    unsigned written;         /* commits; the thread's */
    unsigned reported;
    unsigned in_progress; /* as the owner knows; an offered one when it cannot be withdrawn */
    bool offered;         /* and not withdrawn yet; the owner's */
    struct {
        struct batch *_Atomic batch; /* owned by the side that exchanges it for NULL */
        store_done_fn *done;
        void *arg;
    } offer;
};

/* -- the thread -- */

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void begin_commit(struct commit *commit, struct batch *batch, store_done_fn *done, void *arg)
{
    assert(!commit->batch);
    assert(batch->count > 0 && done);
    *commit = (struct commit){.batch = batch, .done = done, .arg = arg, .began_us = now_us()};
}

/* True: the offered batch is next. */
static bool write_commit(struct sqlite *sqlite)
{
    struct commit *commit = &sqlite->commits[sqlite->written++ % 2];
    struct commit_result *result = &commit->result;
    assert(commit->batch);
    int code = sqlite->lock < 0 ? 0 : statefile_watch_check(&sqlite->watch, &result->error);
    code = code ? code : sqlite_rows_write(&sqlite->rows, commit->batch, &result->error);
    result->code = result->error.code = code;
    result->took_us = now_us() - commit->began_us;
    struct batch *next = code == 0 ? atomic_exchange(&sqlite->offer.batch, NULL) : NULL;
    if (next)
        begin_commit(&sqlite->commits[sqlite->written % 2], next, sqlite->offer.done,
                     sqlite->offer.arg);
    eventfd_write(sqlite->ended, 1);
    return next;
}

static void *write_commits(void *arg)
{
    struct sqlite *sqlite = arg;
    assert(sqlite->ended >= 0);
    for (;;) {
        while (sem_wait(&sqlite->wake) < 0)
            ; /* EINTR: a debugger */
        if (!sqlite->started)
            return NULL;
        sqlite->started = false;
        while (write_commit(sqlite))
            ;
    }
}

/* Signals belong to the loop: the thread must not receive them. */
static int start_thread(struct sqlite *sqlite, struct error *err)
{
    assert(!sqlite->has_thread);
    sigset_t all, before;
    sqlite->ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
    int number = sqlite->ended < 0 ? errno : 0;
    if (number == 0) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        number = pthread_create(&sqlite->thread, NULL, write_commits, sqlite);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (number != 0)
        return error_set(err, ERROR_NOMEM, "cannot start the thread that writes %s: %s",
                         sqlite->path, strerror(number));
    pthread_setname_np(sqlite->thread, "state");
    sqlite->has_thread = true;
    return 0;
}

/* A commit that was started is written first: its own wake-up comes before this one. */
static void stop_thread(struct sqlite *sqlite)
{
    assert(sqlite->path);
    if (sqlite->has_thread) {
        sem_post(&sqlite->wake);
        pthread_join(sqlite->thread, NULL);
    }
    sem_destroy(&sqlite->wake);
    if (sqlite->ended >= 0)
        close(sqlite->ended);
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
    assert(sqlite->in_progress == 0);
    int code = sqlite_rows_load(&sqlite->rows, each, arg, err);
    keep_log_on_close(sqlite, code != 0);
    return code;
}

static void sqlite_refuse(struct store *store, struct error *err)
{
    assert(((struct sqlite *)store)->in_progress == 0);
    struct sqlite *sqlite = (struct sqlite *)store;
    keep_log_on_close(sqlite, true);
    (void)sqlite_damaged_as(err, sqlite->path);
}

static void sqlite_commit(struct store *store, struct batch *batch, store_done_fn *done, void *arg)
{
    struct sqlite *sqlite = (struct sqlite *)store;
    assert(sqlite->in_progress == 0);
    begin_commit(&sqlite->commits[sqlite->reported % 2], batch, done, arg);
    sqlite->in_progress++;
    sqlite->started = true;
    sem_post(&sqlite->wake);
}

static bool sqlite_offer(struct store *store, struct batch *batch, store_done_fn *done, void *arg)
{
    struct sqlite *sqlite = (struct sqlite *)store;
    assert(sqlite->in_progress == 1);
    assert(!sqlite->offered);
    assert(!atomic_load(&sqlite->offer.batch));
    sqlite->offered = true;
    sqlite->offer.done = done;
    sqlite->offer.arg = arg;
    atomic_store(&sqlite->offer.batch, batch);
    return true;
}

static struct batch *sqlite_withdraw(struct store *store)
{
    struct sqlite *sqlite = (struct sqlite *)store;
    assert(sqlite->offered);
    sqlite->offered = false;
    struct batch *batch = atomic_exchange(&sqlite->offer.batch, NULL);
    sqlite->in_progress += !batch;
    assert(sqlite->in_progress <= 2);
    return batch;
}

static int sqlite_fd(const struct store *store)
{
    const struct sqlite *sqlite = (const struct sqlite *)store;
    assert(sqlite->has_thread);
    return sqlite->ended;
}

/* The commit is free again before done is called, which may commit the next batch or close. */
static void sqlite_dispatch(struct store *store)
{
    struct sqlite *sqlite = (struct sqlite *)store;
    eventfd_t count;
    if (eventfd_read(sqlite->ended, &count) < 0)
        return;
    assert(sqlite->in_progress > 0 && sqlite->in_progress <= 2);
    sqlite->in_progress--;
    struct commit *commit = &sqlite->commits[sqlite->reported++ % 2], ended = *commit;
    *commit = (struct commit){0};
    assert(ended.batch && ended.result.code <= 0 && ended.result.took_us >= 0);
    if (ended.result.code == 0) {
        batch_destroy(ended.batch);
        ended.batch = NULL;
    }
    ended.done(ended.arg, &ended.result, ended.batch);
}

static void sqlite_close(struct store *store)
{
    struct sqlite *sqlite = (struct sqlite *)store;
    stop_thread(sqlite);
    batch_destroy(atomic_load(&sqlite->offer.batch));
    batch_destroy(sqlite->commits[0].batch);
    batch_destroy(sqlite->commits[1].batch);
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
        (code = enable_write_ahead_log(sqlite->db, sqlite->path, err)) ||
        (code = sqlite_sealing_open(&sqlite->sealing, sqlite->db, version, sqlite->path, key_file,
                                    err)) ||
        (code = schema_upgrade(sqlite->db, sqlite->path, version, err)) ||
        (code = sqlite_execute(sqlite->db, settings, sqlite->path, err)) ||
        (code = quick_check(sqlite->db, sqlite->path, err)))
        return code;
    return statefile_watch_begin(&sqlite->watch, sqlite->path, err);
}

static int open_memory(struct sqlite *sqlite, struct error *err)
{
    assert(sqlite->lock < 0);
    int code =
        sqlite_sealing_open(&sqlite->sealing, sqlite->db, SCHEMA_VERSION, sqlite->path, NULL, err);
    return code ? code : schema_upgrade(sqlite->db, sqlite->path, 0, err);
}

static int open_parts(struct sqlite *sqlite, const char *file, const char *key_file,
                      struct error *err)
{
    assert(sqlite->path && !sqlite->db);
    int code = 0;
    if (key_file && ((code = sqlite->lock = statefile_lock(sqlite->path, err)) < 0 ||
                     (code = statefile_prepare(sqlite->path, err)) < 0 ||
                     (code = wal_check(sqlite->path, err)) < 0))
        return code;
    int rc = sqlite3_open_v2(file, &sqlite->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK)
        return sqlite_error(err, sqlite->db, rc, sqlite->path);
    sqlite3_extended_result_codes(sqlite->db, 1);
    code = key_file ? open_file(sqlite, key_file, err) : open_memory(sqlite, err);
    if (code ||
        (code = sqlite_rows_init(&sqlite->rows, sqlite->db, sqlite->path, &sqlite->sealing, err)) ||
        (code = start_thread(sqlite, err)))
        return code;
    keep_log_on_close(sqlite, false);
    return 0;
}

/* Takes path. file: as SQLite names it. key_file NULL: in memory. */
static struct store *open_store(char *path, const char *file, const char *key_file,
                                struct error *err)
{
    assert(path && file);
    static const struct store_ops ops = {
        .load = sqlite_load,
        .refuse = sqlite_refuse,
        .commit = sqlite_commit,
        .offer = sqlite_offer,
        .withdraw = sqlite_withdraw,
        .fd = sqlite_fd,
        .dispatch = sqlite_dispatch,
        .close = sqlite_close,
    };
    struct sqlite *sqlite = memory_zeroed(sizeof *sqlite);
    sqlite->store.ops = &ops;
    sqlite->path = path;
    sqlite->lock = sqlite->ended = -1;
    sem_init(&sqlite->wake, 0, 0);
    if (open_parts(sqlite, file, key_file, err) == 0)
        return &sqlite->store;
    sqlite_close(&sqlite->store);
    return NULL;
}

struct store *store_sqlite_open(const char *path, const char *key_file, struct error *err)
{
    assert(path && key_file);
    char *resolved = statefile_resolve(path);
    if (resolved)
        return open_store(resolved, resolved, key_file, err);
    (void)error_set(err, ERROR_IO, "cannot open %s: %s", path, strerror(errno));
    return NULL;
}

struct store *store_memory_open(struct error *err)
{
    return open_store(memory_text("the store in memory"), ":memory:", NULL, err);
}
