/* SPDX-License-Identifier: Apache-2.0 */
#include "state/sqlite/statefile.h"

#include "base/memory.h"
#include "state/sqlite/error.h"
#include "state/sqlite/schema.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { PID_TEXT_SIZE = 24 };

char *statefile_resolve(const char *path)
{
    assert(path);
    char *resolved = realpath(path, NULL);
    if (!resolved && errno == ENOENT)
        return memory_format("%s%s", strchr(path, '/') ? "" : "./", path);
    return resolved;
}

int statefile_stat(const char *path, const char *suffix, struct stat *status)
{
    assert(status);
    char *name = memory_format("%s%s", path, suffix);
    int rc = stat(name, status);
    free(name); /* keeps errno */
    return rc;
}

int statefile_open(const char *path, const char *suffix, int flags)
{
    assert(!(flags & O_TRUNC));
    char *name = memory_format("%s%s", path, suffix);
    int file = open(name, flags | O_CLOEXEC, 0600);
    free(name);
    return file;
}

static int refuse_second_owner(int lock, const char *path, struct error *err)
{
    assert(lock >= 0);
    char text[PID_TEXT_SIZE] = "", owner[PID_TEXT_SIZE + 8] = "";
    ssize_t length = pread(lock, text, sizeof text - 1, 0);
    long pid = length > 0 ? strtol(text, NULL, 10) : 0;
    if (pid > 0) /* else it has the lock and is about to write its pid */
        snprintf(owner, sizeof owner, " (pid %ld)", pid);
    return error_set(err, ERROR_REFUSED,
                     "%s is open in another mcastd%s: stop that one, or give this one a state file "
                     "of its own",
                     path, owner);
}

static int write_pid(int lock)
{
    char text[PID_TEXT_SIZE];
    int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    assert(length > 0 && length < PID_TEXT_SIZE);
    /* In this order, a full disk that had room for the last one has room for this one. */
    if (pwrite(lock, text, (size_t)length, 0) != length || ftruncate(lock, length) < 0)
        return -1;
    return 0;
}

int statefile_lock(const char *path, struct error *err)
{
    assert(path);
    int code = 0, lock = statefile_open(path, ".lock", O_RDWR | O_CREAT | O_NOFOLLOW);
    if (lock < 0)
        return error_set(err, ERROR_IO,
                         "cannot open %s.lock (%s): its folder must exist and be writable for the "
                         "user of mcastd",
                         path, strerror(errno));
    if (flock(lock, LOCK_EX | LOCK_NB) < 0)
        code = errno == EWOULDBLOCK
                   ? refuse_second_owner(lock, path, err)
                   : error_set(err, ERROR_IO, "cannot lock %s.lock: %s", path, strerror(errno));
    else if (write_pid(lock) < 0)
        code = error_set(err, ERROR_IO, "cannot write %s.lock (%s): make room on its disk", path,
                         strerror(errno));
    if (code)
        close(lock);
    return code ? code : lock;
}

/* 1: there; 0: missing; negative: not known. *status is set when it is there. */
static int stat_if_there(const char *path, const char *suffix, struct stat *status,
                         struct error *err)
{
    assert(status);
    if (statefile_stat(path, suffix, status) == 0)
        return 1;
    return errno == ENOENT
               ? 0
               : error_set(err, ERROR_IO, "cannot open %s%s: %s", path, suffix, strerror(errno));
}

/* True when the file is smaller than its own header says. SQLite notices whole pages only, and
 * reads what is missing of the last one as zeros. (sqlite.org/fileformat2.html, 1.3) */
static bool is_cut_short(const char *path, off_t size)
{
    assert(size > 0);
    struct {
        char magic[16];
        uint16_t page_size;
        unsigned char other[10];
        uint32_t page_count;
    } header;
    _Static_assert(sizeof header == 32, "the beginning of the header");
    int fd = statefile_open(path, "", O_RDONLY);
    ssize_t length = fd < 0 ? -1 : pread(fd, &header, sizeof header, 0);
    if (fd >= 0)
        close(fd);
    if (length != (ssize_t)sizeof header || memcmp(header.magic, "SQLite format 3", 16) != 0)
        return false; /* SQLite reports it */
    const off_t page_size = be16toh(header.page_size) == 1 ? 65536 : be16toh(header.page_size);
    return size < page_size * be32toh(header.page_count);
}

int statefile_prepare(const char *path, struct error *err)
{
    assert(path);
    struct stat status = {0}, log_status = {0};
    int file = stat_if_there(path, "", &status, err);
    int log = file < 0 ? file : stat_if_there(path, "-wal", &log_status, err);
    if (log < 0)
        return log;
    if (file && !S_ISREG(status.st_mode))
        return error_set(err, ERROR_INVALID, "%s is not a regular file: check the path", path);
    /* mcastd never leaves an empty file, so this one lost its contents. SQLite would silently start
     * with nothing, as with a log whose file is gone. */
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
        return sqlite_damaged(err, path, "it was cut short");
    return file ? 0 : schema_create(path, err);
}

/* A copy restored by root belongs to root (docs/state.md, "Backups"). */
static int refuse_not_private(const char *path, const char *suffix, int cause, struct error *err)
{
    struct stat status;
    assert(cause > 0);
    if (cause == EPERM && statefile_stat(path, suffix, &status) == 0 && status.st_uid != geteuid())
        return error_set(err, ERROR_IO,
                         "%s%s belongs to user %u, not to that of mcastd: chown it to user %u",
                         path, suffix, (unsigned)status.st_uid, (unsigned)geteuid());
    return error_set(err, ERROR_IO, "cannot make %s%s private to its owner: %s: look at its disk",
                     path, suffix, strerror(cause));
}

int statefile_make_private(const char *path, struct error *err)
{
    assert(path);
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char *name = memory_format("%s%s", path, suffixes[i]);
        int number = chmod(name, 0600) < 0 ? errno : 0;
        free(name);
        if (number != 0 && number != ENOENT)
            return refuse_not_private(path, suffixes[i], number, err);
    }
    return 0;
}

static const char *const watched[STATEFILE_WATCHED] = {"", "-wal"};

int statefile_watch_begin(struct statefile_watch *watch, const char *path, struct error *err)
{
    assert(watch && path);
    *watch = (struct statefile_watch){.path = path};
    for (int i = 0; i < STATEFILE_WATCHED; i++) {
        struct stat status;
        if (statefile_stat(path, watched[i], &status) < 0)
            return error_set(err, ERROR_IO, "cannot see %s%s: %s", path, watched[i],
                             strerror(errno));
        watch->files[i].device = status.st_dev;
        watch->files[i].inode = status.st_ino;
    }
    return 0;
}

int statefile_watch_check(const struct statefile_watch *watch, struct error *err)
{
    assert(watch->path);
    for (int i = 0; i < STATEFILE_WATCHED; i++) {
        struct stat status;
        if (statefile_stat(watch->path, watched[i], &status) < 0 && errno == EACCES)
            return error_set(err, ERROR_IO,
                             "%s%s cannot be reached (%s): give its folder back to the user of "
                             "mcastd, mode 0700",
                             watch->path, watched[i], strerror(errno));
        if (statefile_stat(watch->path, watched[i], &status) < 0)
            return error_set(err, ERROR_IO,
                             "%s%s has been taken away (%s): put it back, or stop mcastd and "
                             "restore the ledger from a backup",
                             watch->path, watched[i], strerror(errno));
        if (watch->files[i].inode != status.st_ino || watch->files[i].device != status.st_dev)
            return error_set(err, ERROR_IO,
                             "%s%s is not the file that mcastd opened: put that one back, or "
                             "restart mcastd to go on with the one that is there",
                             watch->path, watched[i]);
    }
    return 0;
}
