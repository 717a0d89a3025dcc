/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/folder.h"

#include "tests/system/rig/secretscan.h"

#include <assert.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Some images have a /var/tmp without the sticky bit, and mcastd trusts nothing in such a one. */
static const char *usual_parent(void)
{
    struct stat found;

    return stat("/var/tmp", &found) == 0 && (found.st_mode & S_ISVTX) != 0 ? "/var/tmp" : "/tmp";
}

int folder_create(char path[FOLDER_PATH_SIZE])
{
    const char *parent = getenv("TMPDIR");
    const char *form = "%s/mcast-XXXXXX";

    if (!parent || strlen(parent) + strlen(form) > FOLDER_PATH_SIZE)
        parent = usual_parent();
    snprintf(path, FOLDER_PATH_SIZE, form, parent);
    if (!mkdtemp(path)) {
        perror(path);
        return -1;
    }
    return 0;
}

static int unlink_one(const char *path, const struct stat *stat, int kind, struct FTW *walk)
{
    return remove(path);
}

void folder_destroy(const char *path)
{
    secretscan_fail_if_folder(path);
    if (getenv("MCAST_KEEP"))
        fprintf(stderr, "kept: %s\n", path);
    else if (nftw(path, unlink_one, 16, FTW_DEPTH | FTW_PHYS) < 0)
        perror(path);
}

char *folder_path(char *out, size_t size, const char *folder, const char *name)
{
    const int length = snprintf(out, size, "%s/%s", folder, name);

    assert(length > 0 && (size_t)length < size);
    return out;
}

int folder_write(const char *folder, const char *name, mode_t mode, const char *text)
{
    char path[256];
    const int fd = open(folder_path(path, sizeof path, folder, name),
                        O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    const size_t length = strlen(text);

    if (fd < 0 || write(fd, text, length) != (ssize_t)length || close(fd) < 0) {
        perror(path);
        return -1;
    }
    return 0;
}
