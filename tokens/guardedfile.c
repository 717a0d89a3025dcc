/* SPDX-License-Identifier: Apache-2.0 */
#include "tokens/guardedfile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- writing -- */

/* A full disk takes the beginning; the next write has the error. */
static int write_all(int file, const char *text, size_t size)
{
    size_t written = 0;
    while (written < size) {
        ssize_t more = write(file, text + written, size - written);
        if (more < 0 && errno != EINTR)
            return -1;
        if (more > 0)
            written += (size_t)more;
    }
    return 0;
}

static int write_durably(int file, const char *text, size_t size, uid_t owner, gid_t group)
{
    int code = fchown(file, owner, group);
    if (code == 0)
        code = write_all(file, text, size);
    return code == 0 ? fsync(file) : code;
}

int guardedfile_sync_folder(const char *path)
{
    char *copy = strdup(path);
    int folder = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int code = folder < 0 ? -1 : fsync(folder);
    if (folder >= 0)
        close(folder);
    free(copy);
    return code;
}

typedef int place_fn(const char *draft, const char *path);

/* Under a name of its own first, which place then gives the name that it shall have. */
static int write_draft_and_place(const char *path, char *draft, const char *text, size_t size,
                                 uid_t owner, gid_t group, place_fn *place)
{
    int file = mkostemp(draft, O_CLOEXEC); /* mode 0600 */
    if (file < 0)
        return -1;
    int code = write_durably(file, text, size, owner, group);
    if (code == 0)
        code = place(draft, path);
    int number = errno;
    close(file);
    if (code < 0 || place == link)
        unlink(draft);
    errno = number;
    return code < 0 ? -1 : guardedfile_sync_folder(path);
}

static int explain_write_error(int number, const char *path, const struct guardedfile_kind *kind,
                               struct error *err)
{
    if (number == EEXIST)
        return error_set(err, ERROR_REFUSED,
                         "%s is there already and stays: %s; move it away to make another", path,
                         kind->precious);
    if (number == ENOSPC || number == EDQUOT || number == EFBIG)
        return error_set(err, ERROR_FULL, "cannot make the %s %s: %s: make room on its disk",
                         kind->what, path, strerror(number));
    return error_set(err, ERROR_IO, "cannot make the %s %s: %s: %s", kind->what, path,
                     strerror(number), kind->advice);
}

static int write_file(const char *path, const struct guardedfile_kind *kind, const char *text,
                      size_t size, uid_t owner, gid_t group, place_fn *place, struct error *err)
{
    char *draft;
    if (asprintf(&draft, "%s.XXXXXX", path) < 0)
        return error_set(err, ERROR_NOMEM, "out of memory while making %s", path);
    int code = write_draft_and_place(path, draft, text, size, owner, group, place);
    int number = errno;
    free(draft);
    return code == 0 ? 0 : explain_write_error(number, path, kind, err);
}

int guardedfile_create(const char *path, const struct guardedfile_kind *kind, const char *text,
                       size_t size, uid_t owner, gid_t group, struct error *err)
{
    /* Unlike rename, link does not replace a file that another process creates meanwhile. */
    return write_file(path, kind, text, size, owner, group, link, err);
}

int guardedfile_replace(const char *path, const struct guardedfile_kind *kind, int old,
                        const char *text, size_t size, struct error *err)
{
    struct stat status;
    if (fstat(old, &status) < 0)
        return explain_write_error(errno, path, kind, err);
    return write_file(path, kind, text, size, status.st_uid, status.st_gid, rename, err);
}

/* -- reading -- */

static int fail_read(int code, const char *path, const struct guardedfile_kind *kind,
                     struct error *err)
{
    return error_set(err, code, "cannot read the %s %s: %s%s", kind->what, path, strerror(errno),
                     errno == EACCES ? ": chown it to the user of mcastd, mode 0600" : "");
}

static int check_guarded(int file, const char *path, const struct guardedfile_kind *kind,
                         struct error *err)
{
    struct stat status;
    if (fstat(file, &status) < 0)
        return fail_read(ERROR_IO, path, kind, err);
    if (!S_ISREG(status.st_mode))
        return error_set(err, ERROR_INVALID, "the %s %s is not a regular file: check %s",
                         kind->what, path, kind->setting);
    if (status.st_mode & (S_IRWXG | S_IRWXO))
        return error_set(err, ERROR_REFUSED,
                         "the %s %s is open to others (mode %04o): chmod 0600 %s", kind->what, path,
                         (unsigned)(status.st_mode & 07777), path);
    if (status.st_uid != geteuid() && status.st_uid != 0)
        return error_set(err, ERROR_REFUSED,
                         "the %s %s belongs to user %u: chown it to user %u, or to root",
                         kind->what, path, (unsigned)status.st_uid, (unsigned)geteuid());
    return 0;
}

int guardedfile_open(const char *path, const struct guardedfile_kind *kind, struct error *err)
{
    /* Not blocking: should the name be a pipe, opening it must not wait for a writer. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return fail_read(errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, path, kind, err);
    int code = check_guarded(file, path, kind, err);
    if (code == 0)
        return file;
    close(file);
    return code;
}

int guardedfile_read(int file, const char *path, const struct guardedfile_kind *kind, char *text,
                     size_t size, struct error *err)
{
    ssize_t length = pread(file, text, size, 0);
    return length < 0 ? fail_read(ERROR_IO, path, kind, err) : (int)length;
}
