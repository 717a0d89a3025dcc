/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/sysfs.h"

#include "base/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool sysfs_read(const char *root, const char *device, const char *file,
                char out[static SYSFS_TEXT_SIZE])
{
    char path[640], line[SYSFS_TEXT_SIZE];
    out[0] = '\0';
    const int length = snprintf(path, sizeof path, "%s/%s/device/%s", root, device, file);
    const int fd = length < (int)sizeof path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0)
        return false;
    const ssize_t used = read(fd, line, sizeof line - 1);
    close(fd);
    if (used < 0)
        return false;
    line[used] = '\0';
    const bool whole = used < (ssize_t)sizeof line - 1 || strchr(line, '\n');
    line[strcspn(line, "\n")] = '\0';
    if (whole)
        strcpy(out, text_trim(line));
    return out[0] != '\0';
}
