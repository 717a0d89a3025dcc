/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/overflowuid.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { USUAL = 65534 };

uid_t overflowuid(void)
{
    char text[16];
    /* A sandbox may hide it; then it is the usual one. */
    int file = open("/proc/sys/kernel/overflowuid", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (length <= 0)
        return USUAL;
    text[length] = '\0';
    return (uid_t)strtoul(text, NULL, 10);
}
