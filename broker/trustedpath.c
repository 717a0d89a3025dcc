#include "broker/trustedpath.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 /* as the kernel */ };

struct walk {
    uid_t user;
    struct error *err;
    char seen[PATH_MAX]; /* looked at, no links in it; "" is the root */
    char rest[PATH_MAX]; /* what follows */
    unsigned links;
};

static int too_long(const struct walk *walk)
{
    return error_set(walk->err, ERROR_NOT_FOUND, "%s", strerror(ENAMETOOLONG));
}

static int look(const struct walk *walk, const char *path, const struct stat *found)
{
    bool sticky = S_ISDIR(found->st_mode) && (found->st_mode & S_ISVTX) != 0;
    if (found->st_uid != 0 && found->st_uid != walk->user)
        return error_set(walk->err, ERROR_REFUSED,
                         "%s belongs to user %ju, who can change what is run: chown root %s", path,
                         (uintmax_t)found->st_uid, path);
    if (!S_ISLNK(found->st_mode) && !sticky && (found->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return error_set(walk->err, ERROR_REFUSED,
                         "others than its owner can write to %s, and so change what is run: chmod "
                         "go-w %s",
                         path, path);
    return 0;
}

/* Takes the next name off the rest; false: there is none. */
static bool next_name(struct walk *walk, char name[NAME_MAX + 1], int *rc)
{
    const char *start = walk->rest + strspn(walk->rest, "/");
    size_t length = strcspn(start, "/");
    if (length > NAME_MAX)
        *rc = too_long(walk);
    if (length == 0 || length > NAME_MAX)
        return false;
    memcpy(name, start, length);
    name[length] = '\0';
    memmove(walk->rest, start + length, strlen(start + length) + 1);
    return true;
}

/* What the link says comes before the rest. */
static int follow(struct walk *walk, const char *path)
{
    char target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0 || ++walk->links > LINKS_MAX)
        return error_set(walk->err, ERROR_NOT_FOUND, "%s: %s", path,
                         strerror(length < 0 ? errno : ELOOP));
    target[length] = '\0';
    size_t rest = strlen(walk->rest);
    if ((size_t)length + rest >= sizeof walk->rest)
        return too_long(walk);
    memmove(walk->rest + length, walk->rest, rest + 1); /* begins with a slash, or is "" */
    memcpy(walk->rest, target, (size_t)length);
    if (target[0] == '/')
        walk->seen[0] = '\0';
    return 0;
}

static int step(struct walk *walk, const char *name)
{
    char path[PATH_MAX];
    struct stat found;
    char *slash = strrchr(walk->seen, '/');
    if (strcmp(name, ".") == 0)
        return 0;
    if (strcmp(name, "..") == 0) {
        if (slash != NULL)
            *slash = '\0';
        return 0;
    }
    int length = snprintf(path, sizeof path, "%s/%s", walk->seen, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return too_long(walk);
    if (lstat(path, &found) < 0)
        return error_set(walk->err, ERROR_NOT_FOUND, "%s: %s", path, strerror(errno));
    int rc = look(walk, path, &found);
    if (rc < 0)
        return rc;
    if (S_ISLNK(found.st_mode))
        return follow(walk, path);
    if (!S_ISDIR(found.st_mode) && walk->rest[0] != '\0')
        return error_set(walk->err, ERROR_NOT_FOUND, "%s: %s", path, strerror(ENOTDIR));
    memcpy(walk->seen, path, (size_t)length + 1);
    return 0;
}

int trustedpath_check(const char *path, uid_t user, struct error *err)
{
    struct walk walk = {.user = user, .err = err};
    char name[NAME_MAX + 1];
    struct stat found;
    int rc = 0;
    if (strlen(path) >= sizeof walk.rest)
        return too_long(&walk);
    memcpy(walk.rest, path, strlen(path) + 1);
    if (lstat("/", &found) < 0)
        return error_set(err, ERROR_NOT_FOUND, "/: %s", strerror(errno));
    if ((rc = look(&walk, "/", &found)) < 0)
        return rc;
    while (rc == 0 && next_name(&walk, name, &rc))
        rc = step(&walk, name);
    if (rc == 0 && (stat(path, &found) < 0 || !S_ISREG(found.st_mode)))
        rc = error_set(err, ERROR_NOT_FOUND, "%s is no file", path);
    return rc;
}
