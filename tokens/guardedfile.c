/* SPDX-License-Identifier: Apache-2.0 */
#include "tokens/guardedfile.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_durably(int file, const char *text, size_t size, uid_t owner, gid_t group)
{
    size_t written = 0;
    if (fchown(file, owner, group) < 0)
        return -1;
    /* A full disk takes the beginning; the next write has the error. */
    while (written < size) {
        ssize_t more = write(file, text + written, size - written);
        if (more < 0 && errno != EINTR)
            return -1;
        written += more > 0 ? (size_t)more : 0;
    }
    return fsync(file);
}

int guardedfile_sync_folder(const char *path)
{
    char *copy = memory_text(path);
    int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int code = folder < 0 ? -1 : fsync(folder);
    if (folder >= 0)
        close(folder);
    free(copy);
    return code;
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

/* Under a name of its own first, which place then gives the name that it shall have. */
static int write_file(const char *path, const struct guardedfile_kind *kind, const char *text,
                      size_t size, uid_t owner, gid_t group,
                      int place(const char *draft, const char *path), struct error *err)
{
    char *draft = memory_format("%s.XXXXXX", path);
    int file = mkostemp(draft, O_CLOEXEC); /* mode 0600 */
    int code = file < 0 ? -1 : write_durably(file, text, size, owner, group);
    if (code == 0)
        code = place(draft, path);
    int number = errno;
    if (file >= 0)
        close(file);
    if (file >= 0 && (code < 0 || place == link))
        unlink(draft);
    free(draft);
    if (code == 0 && (code = guardedfile_sync_folder(path)) < 0)
        number = errno;
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
