/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/keyfile.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes as they stand in the file; to be wiped. */
struct content {
    char *bytes;
    size_t size, length;
};

static int check_guard(const struct stat *status, enum keyfile_guard guard, const char *path,
                       struct error *err)
{
    const char *mode = guard == KEYFILE_SECRET ? "0600" : "0644";
    mode_t forbidden = guard == KEYFILE_SECRET ? S_IRWXG | S_IRWXO : S_IWGRP | S_IWOTH;
    if (guard == KEYFILE_PUBLIC)
        return 0;
    if (guard == KEYFILE_SECRET && (status->st_mode & (S_IRGRP | S_IROTH)) != 0)
        return error_set(err, ERROR_REFUSED, "%s can be read by others: chmod %s %s", path, mode,
                         path);
    if ((status->st_mode & forbidden) != 0)
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
        return error_set(err, ERROR_INVALID, "%s is not a file; it should hold %s", path,
                         kind->holds);
    return check_guard(&status, kind->guard, path, err);
}

/* Until the end or until content is full; errno on failure. */
static bool read_all(int file, struct content *content)
{
    while (content->length < content->size) {
        ssize_t got = read(file, content->bytes + content->length, content->size - content->length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        if (got == 0)
            break;
        content->length += (size_t)got;
    }
    return true;
}

static void content_wipe(struct content *content)
{
    explicit_bzero(content->bytes, content->size);
    free(content->bytes);
}

/* content is to be wiped in either case. */
static int read_file(const char *path, const struct keyfile *kind, struct content *content,
                     struct error *err)
{
    /* Not blocking: should the name be a pipe, opening it must not wait for a writer. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return error_set(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO,
                         "%s: %s; it should hold %s, for user %u to read", path, strerror(errno),
                         kind->holds, (unsigned)geteuid());
    int code = check_open_file(file, path, kind, err);
    if (code == 0 && !read_all(file, content))
        code = error_set(err, ERROR_IO, "%s: %s", path, strerror(errno));
    (void)close(file);
    return code;
}

static int check_size(const char *path, const struct keyfile *kind, size_t length,
                      struct error *err)
{
    if (length == 0)
        return error_set(err, ERROR_INVALID, "%s is empty: write %s into it", path, kind->holds);
    if (length > kind->max)
        return error_set(err, ERROR_INVALID, "%s is longer than the %zu bytes that %s may have",
                         path, kind->max, kind->holds);
    return 0;
}

static bool is_end(char byte)
{
    return byte == '\n' || byte == '\r';
}

static int read_checked_text(const char *path, const struct keyfile *kind, bool line,
                             struct content *content, struct error *err)
{
    int code = read_file(path, kind, content, err);
    const char *bytes = content->bytes;
    if (code != 0)
        return code;
    if (content->length == content->size) /* the rest was not read */
        return check_size(path, kind, content->length, err);
    while (line && content->length > 0 && is_end(bytes[content->length - 1]))
        content->length--;
    if ((code = check_size(path, kind, content->length, err)) != 0)
        return code;
    if (!line && memchr(bytes, '\0', content->length) != NULL)
        return error_set(err, ERROR_INVALID, "%s holds NULs; it should hold %s", path, kind->holds);
    for (size_t i = 0; line && i < content->length; i++)
        if ((unsigned char)bytes[i] < ' ' || bytes[i] == 0x7f)
            return error_set(err, ERROR_INVALID,
                             "%s should hold one line, %s, without control characters", path,
                             kind->holds);
    content->bytes[content->length] = '\0';
    return 0;
}

static int read_kind(const char *path, const struct keyfile *kind, bool line, struct secret *out,
                     struct error *err)
{
    /* One more than a line and its end, so that too long shows. */
    struct content content = {.size = kind->max + 3};

    *out = (struct secret){0};
    content.bytes = memory_zeroed(content.size + 1);
    int code = read_checked_text(path, kind, line, &content, err);
    if (code == 0)
        *out = secret_copy(secret_of(content.bytes));
    content_wipe(&content);
    return code;
}

int keyfile_text(const char *path, const struct keyfile *kind, struct secret *out,
                 struct error *err)
{
    return read_kind(path, kind, false, out, err);
}

int keyfile_line(const char *path, const struct keyfile *kind, struct secret *out,
                 struct error *err)
{
    return read_kind(path, kind, true, out, err);
}
