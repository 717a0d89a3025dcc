#include "state/sqlite/filewatch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char *const suffixes[FILEWATCH_FILES] = {"", "-wal"};

static int look(const char *path, int i, struct stat *status)
{
    char name[PATH_MAX];
    if (snprintf(name, sizeof name, "%s%s", path, suffixes[i]) >= (int)sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return stat(name, status);
}

int filewatch_begin(struct filewatch *watch, const char *path, struct error *err)
{
    *watch = (struct filewatch){.path = path};
    for (int i = 0; i < FILEWATCH_FILES; i++) {
        struct stat status;
        if (look(path, i, &status) < 0)
            return error_set(err, ERROR_IO, "cannot see %s%s: %s", path, suffixes[i],
                             strerror(errno));
        watch->files[i].device = status.st_dev;
        watch->files[i].inode = status.st_ino;
    }
    return 0;
}

int filewatch_check(const struct filewatch *watch, struct error *err)
{
    for (int i = 0; i < FILEWATCH_FILES; i++) {
        struct stat status;
        if (look(watch->path, i, &status) < 0)
            return error_set(err, ERROR_IO,
                             "%s%s has been taken away (%s): put it back, or stop mcastd and "
                             "restore the ledger from a backup",
                             watch->path, suffixes[i], strerror(errno));
        if (watch->files[i].inode != status.st_ino || watch->files[i].device != status.st_dev)
            return error_set(err, ERROR_IO,
                             "%s%s is not the file that mcastd opened: put that one back, or "
                             "restart mcastd to go on with the one that is there",
                             watch->path, suffixes[i]);
    }
    return 0;
}
