/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/statedir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A note is some hundred bytes. */
enum { FILE_MAX = 64 * 1024, FOLDER_MODE = 0700, FILE_MODE = 0600 };

static int set_errno_error(const struct statedir *dir, const char *what, struct error *err)
{
    return error_set(err, ERROR_IO, "%s: %s: %s (node.conf: spool)", dir->path, what,
                     strerror(errno));
}

/* Notes show whose jobs run here and on which VNIs: other users must not read them, also in a
 * folder that an older release made, nor write what root then trusts. */
static int restrict_to_owner(const struct statedir *dir, struct error *err)
{
    struct stat status;
    if (fstat(dir->directory, &status) < 0)
        return set_errno_error(dir, "it cannot be looked at", err);
    if (status.st_uid != geteuid())
        return error_set(err, ERROR_REFUSED,
                         "%s: it belongs to uid %u, who could read and change what is remembered; "
                         "chown it to uid %u (node.conf: spool)",
                         dir->path, (unsigned)status.st_uid, (unsigned)geteuid());
    if ((status.st_mode & 07777) != FOLDER_MODE && fchmod(dir->directory, FOLDER_MODE) < 0)
        return set_errno_error(dir, "its mode cannot be set", err);
    return 0;
}

static int open_for_writing(struct statedir *dir, struct error *err)
{
    int rc = restrict_to_owner(dir, err);
    if (rc < 0)
        return rc;
    /* A process that can open a file can lock it. */
    dir->lock =
        openat(dir->directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    if (dir->lock < 0 || fchmod(dir->lock, FILE_MODE) < 0)
        return set_errno_error(dir, "its lock cannot be opened", err);
    return 0;
}

int statedir_open(struct statedir *dir, const char *path, bool change, struct error *err)
{
    *dir = (struct statedir){.directory = -1, .lock = -1};
    snprintf(dir->path, sizeof dir->path, "%s", path);
    if (change && mkdir(path, FOLDER_MODE) < 0 && errno != EEXIST)
        return set_errno_error(dir, "it cannot be made", err);
    dir->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!change)
        return 0;
    if (dir->directory < 0)
        return set_errno_error(dir, "it cannot be opened", err);
    int rc = open_for_writing(dir, err);
    if (rc < 0)
        statedir_close(dir);
    return rc;
}

void statedir_close(struct statedir *dir)
{
    if (dir->lock >= 0)
        close(dir->lock);
    if (dir->directory >= 0)
        close(dir->directory);
    dir->lock = dir->directory = -1;
}

static int set_lock(const struct statedir *dir, int command, short type, uint64_t which)
{
    struct flock range = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)which, .l_len = 1};
    int rc;
    while ((rc = fcntl(dir->lock, command, &range)) < 0 && errno == EINTR)
        continue;
    return rc;
}

int statedir_lock(const struct statedir *dir, uint64_t which, struct error *err)
{
    if (set_lock(dir, F_OFD_SETLKW, F_WRLCK, which) < 0)
        return set_errno_error(dir, "it cannot be locked", err);
    return 0;
}

bool statedir_try_lock(const struct statedir *dir, uint64_t which)
{
    return set_lock(dir, F_OFD_SETLK, F_WRLCK, which) == 0;
}

void statedir_unlock(const struct statedir *dir, uint64_t which)
{
    (void)set_lock(dir, F_OFD_SETLK, F_UNLCK, which);
}

static int read_all(int fd, char *text, size_t size)
{
    size_t used = 0;
    ssize_t got;
    while ((got = read(fd, text + used, size - 1 - used)) != 0) {
        if (got < 0 && errno != EINTR)
            return -1;
        used += got > 0 ? (size_t)got : 0;
        if (used == size - 1) {
            errno = EFBIG;
            return -1;
        }
    }
    text[used] = '\0';
    return 0;
}

int statedir_read(const struct statedir *dir, const char *name, char **text, struct error *err)
{
    int fd = openat(dir->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? error_set(err, ERROR_NOT_FOUND, "%s is not there", name)
                               : set_errno_error(dir, name, err);
    char *content = malloc(FILE_MAX);
    int rc = 0;
    if (dir->lock >= 0)
        (void)!fchmod(fd, FILE_MODE); /* of an older release */
    if (!content)
        rc = error_set(err, ERROR_NOMEM, "memory is exhausted");
    else if (read_all(fd, content, FILE_MAX) < 0)
        rc = set_errno_error(dir, name, err);
    close(fd);
    if (rc < 0)
        free(content);
    else
        *text = content;
    return rc;
}

static bool write_all(int fd, const char *text)
{
    size_t length = strlen(text);
    while (length > 0) {
        ssize_t put = write(fd, text, length);
        if (put < 0 && errno != EINTR)
            return false;
        text += put > 0 ? put : 0;
        length -= put > 0 ? (size_t)put : 0;
    }
    return fchmod(fd, FILE_MODE) == 0 && fsync(fd) == 0;
}

int statedir_write(const struct statedir *dir, const char *name, const char *text,
                   struct error *err)
{
    char fresh[64];
    snprintf(fresh, sizeof fresh, ".new.%ld", (long)getpid());
    int fd = openat(dir->directory, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                    FILE_MODE);
    if (fd < 0)
        return set_errno_error(dir, "a file cannot be made in it", err);
    bool whole = write_all(fd, text);
    whole = close(fd) == 0 && whole;
    if (whole && renameat(dir->directory, fresh, dir->directory, name) == 0)
        return 0;
    int rc = set_errno_error(dir, "a file cannot be written in it", err);
    (void)unlinkat(dir->directory, fresh, 0);
    return rc;
}

int statedir_remove(const struct statedir *dir, const char *name, struct error *err)
{
    if (unlinkat(dir->directory, name, 0) < 0 && errno != ENOENT)
        return set_errno_error(dir, name, err);
    return 0;
}

static void read_boot(char out[STATEDIR_BOOT_SIZE])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, out, STATEDIR_BOOT_SIZE - 1);
    if (fd >= 0)
        close(fd);
    out[got > 0 ? got : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

/* Asked once for each of many notes; no process sees two of them. */
void statedir_boot(char out[STATEDIR_BOOT_SIZE])
{
    static char boot[STATEDIR_BOOT_SIZE];
    if (boot[0] == '\0')
        read_boot(boot);
    memcpy(out, boot, STATEDIR_BOOT_SIZE);
}
