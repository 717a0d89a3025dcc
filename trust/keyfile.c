/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/keyfile.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_guard(const struct stat *status, enum keyfile_guard guard, const char *path,
                       struct error *err)
{
    const bool secret = guard == KEYFILE_SECRET;
    const char *mode = secret ? "0600" : "0644";
    if (guard == KEYFILE_PUBLIC)
        return 0;
    if (secret && (status->st_mode & (S_IRGRP | S_IROTH)) != 0)
        return error_set(err, ERROR_REFUSED, "%s can be read by others: chmod %s %s", path, mode,
                         path);
    if ((status->st_mode & (secret ? S_IRWXG | S_IRWXO : S_IWGRP | S_IWOTH)) != 0)
        return error_set(err, ERROR_REFUSED, "%s can be changed by others: chmod %s %s", path, mode,
                         path);
    if (status->st_uid != geteuid() && status->st_uid != 0)
        return error_set(err, ERROR_REFUSED, "%s belongs to user %u: chown it to user %u", path,
                         (unsigned)status->st_uid, (unsigned)geteuid());
    return 0;
}

static int check_open_file(int file, const char *path, const struct keyfile *kind,
                           struct error *err)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return error_set(err, ERROR_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return error_set(err, ERROR_INVALID, "%s is not a regular file; it should hold %s", path,
                         kind->holds);
    return check_guard(&status, kind->guard, path, err);
}

int keyfile_open(const char *path, const struct keyfile *kind, struct error *err)
{
    /* Not blocking: should the name be a pipe, opening it must not wait for a writer. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return error_set(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO,
                         "%s: %s; it should hold %s, for user %u to read", path, strerror(errno),
                         kind->holds, (unsigned)geteuid());
    int code = check_open_file(file, path, kind, err);
    if (code == 0)
        return file;
    (void)close(file);
    return code;
}

int keyfile_bytes(int file, const char *path, char *bytes, size_t size, struct error *err)
{
    size_t length = 0;
    while (length < size) {
        ssize_t more = read(file, bytes + length, size - length);
        if (more == 0)
            break;
        if (more < 0 && errno != EINTR)
            return error_set(err, ERROR_IO, "%s: %s", path, strerror(errno));
        if (more > 0)
            length += (size_t)more;
    }
    return (int)length;
}

static bool is_control(char byte)
{
    return (unsigned char)byte < ' ' || byte == 0x7f;
}

/* bytes has one more byte than length; the first so many of `size` were read. */
static int check_content(char *bytes, size_t length, size_t size, const char *path,
                         const struct keyfile *kind, struct error *err)
{
    /* Of a file that is too long, the rest was not read. */
    while (kind->line && length < size && length > 0 &&
           (bytes[length - 1] == '\n' || bytes[length - 1] == '\r'))
        length--;
    if (length == 0)
        return error_set(err, ERROR_INVALID, "%s is empty: write %s into it", path, kind->holds);
    if (length > kind->max)
        return error_set(err, ERROR_INVALID, "%s is longer than the %zu bytes that %s may have",
                         path, kind->max, kind->holds);
    bytes[length] = '\0';
    for (size_t i = 0; i < length; i++)
        if (kind->line ? is_control(bytes[i]) : bytes[i] == '\0')
            return error_set(err, ERROR_INVALID, "%s should hold %s%s, without %s", path,
                             kind->line ? "one line, " : "", kind->holds,
                             kind->line ? "control characters" : "NULs");
    return 0;
}

int keyfile_text(const char *path, const struct keyfile *kind, struct secret *out,
                 struct error *err)
{
    /* One more than a line and its end, so that too long shows; and a NUL. */
    const size_t size = kind->max + 3;
    *out = (struct secret){0};
    int file = keyfile_open(path, kind, err);
    if (file < 0)
        return file;
    char *bytes = memory_zeroed(size + 1);
    int code = keyfile_bytes(file, path, bytes, size, err);
    if (code >= 0)
        code = check_content(bytes, (size_t)code, size, path, kind, err);
    if (code == 0)
        *out = secret_copy(secret_of(bytes));
    explicit_bzero(bytes, size);
    free(bytes);
    (void)close(file);
    return code;
}
