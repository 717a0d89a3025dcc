/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/clocks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int clocks_set(const char *path, const struct clocks *clocks)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const ssize_t written = file < 0 ? -1 : write(file, clocks, sizeof *clocks);

    if (written != sizeof *clocks)
        perror(path);
    if (file >= 0)
        close(file);
    return written == sizeof *clocks ? 0 : -1;
}

void clocks_use(const char *path)
{
    if (path) {
        setenv("LD_PRELOAD", RIG_CLOCKS, 1);
        setenv("TEST_CLOCKS", path, 1);
    } else {
        unsetenv("LD_PRELOAD");
        unsetenv("TEST_CLOCKS");
    }
}
