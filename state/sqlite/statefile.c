#include "state/sqlite/statefile.h"

#include "state/sqlite/schema.h"
#include "state/sqlite/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *statefile_resolve(const char *path)
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

int statefile_prepare(const char *path, struct error *err)
{
    struct stat status = {0}, log_status = {0};
    int file = find(path, "", &status, err);
    int log = file < 0 ? file : find(path, "-wal", &log_status, err);
    if (log < 0)
        return log;
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
        return sqlite_damaged(err, path, "it was cut short");
    return file ? 0 : schema_create(path, err);
}

/* As a copy restored by root is (docs/state.md, "Backups"). */
static int not_ours(const char *name, int cause, struct error *err)
{
    struct stat status;
    if (cause == EPERM && stat(name, &status) == 0 && status.st_uid != geteuid())
        return error_set(err, ERROR_IO,
                         "%s belongs to user %u, not to that of mcastd: chown it to user %u", name,
                         (unsigned)status.st_uid, (unsigned)geteuid());
    return error_set(err, ERROR_IO, "cannot make %s private to its owner: %s: look at its disk",
                     name, strerror(cause));
}

int statefile_make_private(const char *path, struct error *err)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    int code = 0;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && code == 0; i++) {
        char *name;
        if (asprintf(&name, "%s%s", path, suffixes[i]) < 0)
            return error_set(err, ERROR_NOMEM, "out of memory while opening %s", path);
        if (chmod(name, 0600) < 0 && errno != ENOENT)
            code = not_ours(name, errno, err);
        free(name);
    }
    return code;
}
