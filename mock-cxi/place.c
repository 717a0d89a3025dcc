/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-cxi/place.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

static const char default_directory[] = "/var/lib/mock-cxi";
enum { FILE_SIZE_MAX = 16 << 20 };

int place_open(struct place *place, struct error *err)
{
    *place = (struct place){.directory = -1, .lock = -1};
    const char *path = secure_getenv("MOCK_CXI");
    if (!path || !*path)
        path = default_directory;
    place->directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (place->directory < 0 && errno != ENOENT)
        return error_set(err, ERROR_IO, "%s: %s", path, strerror(errno));
    return 0;
}

/* Explicitly, since a child that was just forked may have the lock's descriptor too. */
void place_unlock(struct place *place)
{
    if (place->lock >= 0) {
        flock(place->lock, LOCK_UN);
        close(place->lock);
    }
    place->lock = -1;
}

void place_close(struct place *place)
{
    place_unlock(place);
    if (place->directory >= 0)
        close(place->directory);
    place->directory = -1;
}

static int open_for_writing(const struct place *place, const char *name, int flags)
{
    struct stat status;
    if (fstat(place->directory, &status) < 0)
        return -1;
    mode_t mode = status.st_mode & 0666;
    int fd =
        openat(place->directory, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, mode);
    if (fd >= 0)
        (void)fchmod(fd, mode); /* against the umask; another user's file is as it should be */
    return fd;
}

int place_lock(struct place *place, struct error *err)
{
    assert(place->lock < 0);
    int fd = open_for_writing(place, "lock", 0);
    if (fd < 0)
        return error_set(err, ERROR_IO, "lock: %s", strerror(errno));
    place->lock = fd; /* for place_close, also when it cannot be had */
    while (flock(fd, LOCK_EX) < 0) {
        if (errno != EINTR)
            return error_set(err, ERROR_IO, "lock: %s", strerror(errno));
    }
    return 0;
}

int place_read(const struct place *place, const char *name, char **content, size_t *length,
               struct error *err)
{
    struct stat status;
    int fd = openat(place->directory, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return error_set(err, ERROR_NOT_FOUND, "%s does not exist", name);
    if (fd < 0)
        return error_set(err, ERROR_IO, "%s: %s", name, strerror(errno));
    bool good =
        fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= FILE_SIZE_MAX;
    *length = good ? (size_t)status.st_size : 0;
    *content = memory_zeroed(*length + 1);
    good = good && read(fd, *content, *length) == (ssize_t)*length;
    close(fd);
    if (good)
        return 0;
    free(*content);
    return error_set(err, ERROR_IO, "%s cannot be read as a file of at most %d bytes", name,
                     FILE_SIZE_MAX);
}

int place_replace(const struct place *place, const char *name, const void *content, size_t length,
                  struct error *err)
{
    assert(place->lock >= 0);
    char fresh[64];
    snprintf(fresh, sizeof fresh, "%s.new", name);
    int fd = open_for_writing(place, fresh, O_TRUNC);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    bool whole = file && fwrite(content, length, 1, file) == 1;
    if (file && fclose(file) != 0)
        whole = false;
    if (!whole || renameat(place->directory, fresh, place->directory, name) < 0)
        return error_set(err, ERROR_IO, "%s: %s", fresh, strerror(errno));
    return 0;
}

void place_append(const struct place *place, const char *name, const char *line, size_t length)
{
    int fd = place->directory < 0 ? -1 : open_for_writing(place, name, O_APPEND);
    if (fd < 0)
        return;
    (void)!write(fd, line, length);
    close(fd);
}
