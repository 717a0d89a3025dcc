#include "fmapi/passwd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_guarded(int file, const char *path, struct error *err)
{
    struct stat status;

    if (fstat(file, &status) != 0)
        return error_set(err, ERROR_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return error_set(err, ERROR_INVALID, "%s is not a file; it should hold the password", path);
    if ((status.st_mode & (S_IRGRP | S_IROTH)) != 0)
        return error_set(err, ERROR_REFUSED, "%s can be read by others: chmod 0600 %s", path, path);
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return error_set(err, ERROR_REFUSED, "%s can be changed by others: chmod 0600 %s", path,
                         path);
    if (status.st_uid != geteuid() && status.st_uid != 0)
        return error_set(err, ERROR_REFUSED, "%s belongs to user %u: chown it to user %u", path,
                         (unsigned)status.st_uid, (unsigned)geteuid());
    return 0;
}

/* Bytes read, up to size; -1 with errno. */
static ssize_t read_all(int file, char *bytes, size_t size)
{
    size_t length = 0;
    while (length < size) {
        ssize_t got = read(file, bytes + length, size - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        length += (size_t)got;
    }
    return (ssize_t)length;
}

static int take_line(const char *bytes, size_t length, const char *path,
                     char password[static PASSWD_MAX + 1], struct error *err)
{
    while (length > 0 && (bytes[length - 1] == '\n' || bytes[length - 1] == '\r'))
        length--;
    if (length == 0)
        return error_set(err, ERROR_INVALID, "%s is empty: write the password into it, one line",
                         path);
    if (length > PASSWD_MAX)
        return error_set(err, ERROR_INVALID, "%s is longer than the %d bytes a password may have",
                         path, PASSWD_MAX);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)bytes[i] < ' ' || bytes[i] == 0x7f)
            return error_set(err, ERROR_INVALID,
                             "%s should hold one line, the password, without control characters",
                             path);
    memcpy(password, bytes, length);
    password[length] = '\0';
    return 0;
}

int passwd_read(const char *authdir, char password[static PASSWD_MAX + 1], struct error *err)
{
    char path[PATH_MAX];
    char bytes[PASSWD_MAX + 3]; /* one more than a password and its line's end: too long shows */

    if (snprintf(path, sizeof path, "%s/passwd", authdir) >= (int)sizeof path)
        return error_set(err, ERROR_INVALID, "the name of the login's directory is too long");
    /* Not blocking: should the name be a pipe, opening it must not wait for a writer. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return error_set(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO,
                         "%s: %s; it should hold the fabric manager's password", path,
                         strerror(errno));

    int code = check_guarded(file, path, err);
    if (code == 0) {
        ssize_t length = read_all(file, bytes, sizeof bytes);
        code = length < 0 ? error_set(err, ERROR_IO, "%s: %s", path, strerror(errno))
                          : take_line(bytes, (size_t)length, path, password, err);
        explicit_bzero(bytes, sizeof bytes);
    }
    (void)close(file);
    return code;
}
