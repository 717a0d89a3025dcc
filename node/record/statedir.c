/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/statedir.h"

#include "base/memory.h"

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
    int rc = restrict_to_owner(dir, err);
    /* A process that can open a file can lock it. */
    if (rc == 0)
        dir->lock =
            openat(dir->directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    if (rc == 0 && (dir->lock < 0 || fchmod(dir->lock, FILE_MODE) < 0))
        rc = set_errno_error(dir, "its lock cannot be opened", err);
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

int statedir_read(const struct statedir *dir, const char *name, char **text, struct error *err)
{
    int fd = openat(dir->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? error_set(err, ERROR_NOT_FOUND, "%s is not there", name)
                               : set_errno_error(dir, name, err);
    if (dir->lock >= 0)
        (void)!fchmod(fd, FILE_MODE); /* of an older release */
    *text = memory_zeroed(FILE_MAX);
    ssize_t length = read(fd, *text, FILE_MAX);
    if (length == FILE_MAX)
        errno = EFBIG;
    int rc = length < 0 || length == FILE_MAX ? set_errno_error(dir, name, err) : 0;
    close(fd);
    if (rc < 0)
        free(*text);
    return rc;
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
    bool whole = dprintf(fd, "%s", text) == (int)strlen(text) && fchmod(fd, FILE_MODE) == 0;
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

/* Asked once for each of many notes; no process sees two of them. */
const char *statedir_boot(void)
{
    static char boot[STATEDIR_BOOT_SIZE];
    FILE *file = boot[0] ? NULL : fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file && !fgets(boot, sizeof boot, file))
        boot[0] = '\0';
    if (file)
        fclose(file);
    boot[strcspn(boot, "\n")] = '\0';
    return boot;
}
