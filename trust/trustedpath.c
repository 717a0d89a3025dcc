/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/trustedpath.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 /* as the kernel */ };

struct walk {
    const struct trustedpath *wanted;
    struct error *err;
    char seen[PATH_MAX]; /* looked at, no links in it; "" is the root */
    char rest[PATH_MAX]; /* what follows */
    unsigned links;
    bool missing; /* the last name is not there, and need not be */
};

static int too_long(const struct walk *walk)
{
    return error_set(walk->err, ERROR_NOT_FOUND, "%s", strerror(ENAMETOOLONG));
}

static bool open_to_others(const struct stat *found)
{
    return (found->st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

static bool is_sticky(const struct stat *found)
{
    return S_ISDIR(found->st_mode) && (found->st_mode & S_ISVTX) != 0;
}

/* The last segment of the path is being checked. */
static bool is_last(const struct walk *walk)
{
    return walk->rest[strspn(walk->rest, "/")] == '\0';
}

/* What root has to type; a link would lead chown to what it names. */
static int refuse_owner(const struct walk *walk, const char *path, const struct stat *found)
{
    const struct trustedpath *wanted = walk->wanted;
    char owner[24] = "root";
    if (wanted->written && wanted->user != 0 && is_last(walk))
        (void)snprintf(owner, sizeof owner, "%ju", (uintmax_t)wanted->user);
    return error_set(walk->err, ERROR_REFUSED,
                     "%s belongs to user %ju, who can change %s: chown %s%s %s", path,
                     (uintmax_t)found->st_uid, wanted->subject,
                     S_ISLNK(found->st_mode) ? "-h " : "", owner, path);
}

static int check_owner_and_mode(const struct walk *walk, const char *path, const struct stat *found)
{
    if (found->st_uid != 0 && found->st_uid != walk->wanted->user)
        return refuse_owner(walk, path, found);
    /* The mode of a link says nothing, and that of a socket who may connect. */
    if (S_ISLNK(found->st_mode) || S_ISSOCK(found->st_mode) || is_sticky(found))
        return 0;
    if (open_to_others(found))
        return error_set(walk->err, ERROR_REFUSED,
                         "others than its owner can write to %s, and so change %s: chmod go-w %s",
                         path, walk->wanted->subject, path);
    return 0;
}

/* Takes the next name off the rest: its length; 0: there is none. */
static int next_segment(struct walk *walk, char name[NAME_MAX + 1])
{
    const char *start = walk->rest + strspn(walk->rest, "/");
    size_t length = strcspn(start, "/");
    if (length > NAME_MAX)
        return too_long(walk);
    memcpy(name, start, length);
    name[length] = '\0';
    memmove(walk->rest, start + length, strlen(start + length) + 1);
    return (int)length;
}

/* What the link says comes before the rest. */
static int follow_link(struct walk *walk, const char *path)
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

static int check_segment(struct walk *walk, const char *name)
{
    char path[PATH_MAX];
    struct stat found;
    char *slash = strrchr(walk->seen, '/');
    if (strcmp(name, ".") == 0)
        return 0;
    if (strcmp(name, "..") == 0) {
        if (slash)
            *slash = '\0';
        return 0;
    }
    int length = snprintf(path, sizeof path, "%s/%s", walk->seen, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return too_long(walk);
    bool there = lstat(path, &found) == 0;
    walk->missing =
        !there && errno == ENOENT && walk->wanted->kind == TRUSTEDPATH_ENTRY && is_last(walk);
    if (walk->missing)
        return 0;
    if (!there)
        return error_set(walk->err, ERROR_NOT_FOUND, "%s: %s", path, strerror(errno));
    int rc = check_owner_and_mode(walk, path, &found);
    if (rc < 0)
        return rc;
    if (S_ISLNK(found.st_mode))
        return follow_link(walk, path);
    if (!S_ISDIR(found.st_mode) && walk->rest[0] != '\0')
        return error_set(walk->err, ERROR_NOT_FOUND, "%s: %s", path, strerror(ENOTDIR));
    memcpy(walk->seen, path, (size_t)length + 1);
    return 0;
}

/* The whole path is checked: does it name the wanted kind? */
static int check_kind(const struct walk *walk)
{
    const struct trustedpath *wanted = walk->wanted;
    const bool file = wanted->kind == TRUSTEDPATH_FILE;
    const char *path = walk->seen[0] != '\0' ? walk->seen : "/";
    struct stat found;
    if (wanted->kind == TRUSTEDPATH_ENTRY)
        return 0;
    if (lstat(path, &found) < 0 || (file ? !S_ISREG(found.st_mode) : !S_ISDIR(found.st_mode)))
        return error_set(walk->err, ERROR_NOT_FOUND, "%s is no %s", wanted->path,
                         file ? "file" : "folder");
    if (is_sticky(&found) && open_to_others(&found))
        return error_set(walk->err, ERROR_REFUSED,
                         "others can make files in %s, and so change %s: name a folder that is not "
                         "shared, as install -d makes it",
                         path, wanted->subject);
    return 0;
}

/* The path as one that begins at the root. */
static int make_absolute(struct walk *walk)
{
    const char *path = walk->wanted->path;
    size_t length = 0;
    if (path[0] != '/') {
        if (!getcwd(walk->rest, sizeof walk->rest))
            return error_set(walk->err, ERROR_NOT_FOUND, "%s", strerror(errno));
        length = strlen(walk->rest);
        walk->rest[length++] = '/'; /* in place of the NUL */
    }
    if (length + strlen(path) >= sizeof walk->rest)
        return too_long(walk);
    memcpy(walk->rest + length, path, strlen(path) + 1);
    return 0;
}

int trustedpath_check(const struct trustedpath *wanted, struct error *err)
{
    struct walk walk = {.wanted = wanted, .err = err};
    char name[NAME_MAX + 1];
    struct stat found;
    assert(wanted->path && wanted->subject);
    int rc = make_absolute(&walk);
    if (rc == 0 && lstat("/", &found) < 0)
        rc = error_set(err, ERROR_NOT_FOUND, "/: %s", strerror(errno));
    if (rc == 0)
        rc = check_owner_and_mode(&walk, "/", &found);
    while (rc == 0 && !walk.missing && (rc = next_segment(&walk, name)) > 0)
        rc = check_segment(&walk, name);
    return rc == 0 ? check_kind(&walk) : rc;
}

int trustedpath_socket_owner(const char *path, uid_t *owner, struct error *err)
{
    char folder[PATH_MAX];
    struct stat found;
    const char *slash = strrchr(path, '/');
    size_t length = !slash ? 0 : slash == path ? 1 : (size_t)(slash - path);
    if (length == 0 || length >= sizeof folder)
        return error_set(err, ERROR_NOT_FOUND, "%s names no folder", path);
    memcpy(folder, path, length);
    folder[length] = '\0';
    if (stat(folder, &found) < 0)
        return error_set(err, ERROR_NOT_FOUND, "%s: %s", folder, strerror(errno));
    const struct trustedpath wanted = {
        .path = folder,
        .kind = TRUSTEDPATH_FOLDER,
        .user = found.st_uid,
        .subject = "who answers at the socket in it",
    };
    int rc = trustedpath_check(&wanted, err);
    if (rc == 0)
        *owner = found.st_uid;
    return rc;
}

static int check_command_file(const char *path, struct error *err)
{
    const struct trustedpath wanted = {
        .path = path, .kind = TRUSTEDPATH_FILE, .user = geteuid(), .subject = "what is run"};
    return trustedpath_check(&wanted, err);
}

int trustedcommand_check(char *const *words, struct error *err)
{
    int rc = check_command_file(words[0], err);
    if (rc == 0 && faccessat(AT_FDCWD, words[0], X_OK, AT_EACCESS) < 0)
        return error_set(err, ERROR_NOT_FOUND, "uid %ju cannot execute %s: %s",
                         (uintmax_t)geteuid(), words[0], strerror(errno));
    /* An interpreter runs the script that an argument names. */
    for (size_t i = 1; rc == 0 && words[i]; i++) {
        struct stat found;
        if (words[i][0] == '/' && stat(words[i], &found) == 0 && S_ISREG(found.st_mode))
            rc = check_command_file(words[i], err);
    }
    return rc;
}

enum { OVERFLOWUID_USUAL = 65534 };

uid_t trustedpath_overflowuid(void)
{
    char text[16];
    /* A sandbox may hide it; then it is the usual one. */
    int file = open("/proc/sys/kernel/overflowuid", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (length <= 0)
        return OVERFLOWUID_USUAL;
    text[length] = '\0';
    return (uid_t)strtoul(text, NULL, 10);
}
