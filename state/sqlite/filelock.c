#include "state/sqlite/filelock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { PID_TEXT_SIZE = 24 };

static int refuse(int fd, const char *path, struct error *err)
{
    char text[PID_TEXT_SIZE] = "";
    ssize_t length = pread(fd, text, sizeof text - 1, 0);
    long pid = length > 0 ? strtol(text, NULL, 10) : 0;
    if (pid <= 0) /* it has the lock and is about to write its pid */
        return error_set(err, ERROR_REFUSED,
                         "%s is open in another mcastd: stop that one, or give this one a state "
                         "file of its own",
                         path);
    return error_set(err, ERROR_REFUSED,
                     "%s is open in another mcastd (pid %ld): stop that one, or give this one a "
                     "state file of its own",
                     path, pid);
}

static int write_pid(int fd)
{
    char text[PID_TEXT_SIZE];
    int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    /* In this order, a full disk that had room for the last one has room for this one. */
    if (pwrite(fd, text, (size_t)length, 0) != length || ftruncate(fd, length) < 0)
        return -1;
    return 0;
}

int filelock_take(const char *path, struct error *err)
{
    char *name;
    if (asprintf(&name, "%s.lock", path) < 0)
        return error_set(err, ERROR_NOMEM, "out of memory while opening %s", path);
    int code = 0;
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        code = error_set(err, ERROR_IO,
                         "cannot open %s (%s): its folder must exist and be writable for the user "
                         "of mcastd",
                         name, strerror(errno));
    else if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        code = errno == EWOULDBLOCK
                   ? refuse(fd, path, err)
                   : error_set(err, ERROR_IO, "cannot lock %s: %s", name, strerror(errno));
    else if (write_pid(fd) < 0)
        code = error_set(err, ERROR_IO, "cannot write %s (%s): make room on its disk", name,
                         strerror(errno));
    free(name);
    if (code && fd >= 0)
        close(fd);
    return code ? code : fd;
}
