/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/smalldisk.h"

#include "tests/system/rig/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Beside the ledger: its log alone takes 4 MB before it is written back. */
enum { PATH_SIZE = 128, ROOM = 16 * 1024 * 1024 };

static const char *const files[] = {"state.db", "state.db-wal", "state.db-shm"};

static int complain(const char *name)
{
    perror(name);
    return -1;
}

/* Across disks. 0 too when there is nothing to carry. */
static int carry(const char *folder, const char *from, const char *to)
{
    char source[PATH_SIZE], target[PATH_SIZE], block[65536];
    const int in = open(folder_path(source, sizeof source, folder, from), O_RDONLY | O_CLOEXEC);
    ssize_t length = 0;

    if (in < 0)
        return errno == ENOENT ? 0 : complain(source);
    const int out = open(folder_path(target, sizeof target, folder, to),
                         O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    while (out >= 0 && (length = read(in, block, sizeof block)) > 0)
        if (write(out, block, (size_t)length) != length)
            break;
    close(in);
    if (out < 0 || close(out) < 0 || length != 0)
        return complain(target);
    return unlink(source) == 0 ? 0 : complain(source);
}

static int mount_disk(const char *folder, const char *disk)
{
    char path[PATH_SIZE], options[64];
    struct stat ledger;

    if (stat(folder_path(path, sizeof path, folder, files[0]), &ledger) < 0 ||
        (mkdir(disk, 0700) < 0 && errno != EEXIST))
        return complain(path);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return complain("a name space for mounts");
    snprintf(options, sizeof options, "mode=0700,size=%jd", (intmax_t)ledger.st_size + ROOM);
    return mount("none", disk, "tmpfs", 0, options) < 0 ? complain(disk) : 0;
}

int smalldisk_move_in(const char *folder)
{
    char disk[PATH_SIZE], path[PATH_SIZE], target[PATH_SIZE];

    if (mount_disk(folder, folder_path(disk, sizeof disk, folder, "disk")) < 0 ||
        carry(folder, files[0], "disk/state.db") < 0)
        return -1;
    folder_path(path, sizeof path, folder, files[0]);
    folder_path(target, sizeof target, folder, "disk/state.db");
    return symlink(target, path) < 0 ? complain(path) : 0;
}

int smalldisk_fill(const char *folder)
{
    static const char block[512];
    char path[PATH_SIZE];
    const int file = open(folder_path(path, sizeof path, folder, "disk/ballast"),
                          O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (file < 0)
        return complain(path);
    while (write(file, block, sizeof block) > 0)
        ;
    const bool full = errno == ENOSPC;
    close(file);
    return full ? 0 : complain(path);
}

int smalldisk_make_room(const char *folder)
{
    char path[PATH_SIZE];

    return unlink(folder_path(path, sizeof path, folder, "disk/ballast")) < 0 ? complain(path) : 0;
}

int smalldisk_move_out(const char *folder)
{
    char path[PATH_SIZE], from[PATH_SIZE];

    if (unlink(folder_path(path, sizeof path, folder, files[0])) < 0)
        return complain(path);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(from, sizeof from, "disk/%s", files[i]);
        if (carry(folder, from, files[i]) < 0)
            return -1;
    }
    folder_path(path, sizeof path, folder, "disk");
    return umount2(path, MNT_DETACH) < 0 ? complain(path) : 0;
}
