/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded before the C library: the process is killed just before, or just after, one of its steps
 * that others can see, $TEST_DIES being its number (two for each step); or the disk is full for all
 * but a pretended NIC, $TEST_FULL. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void pass(void)
{
    static long passed;
    const char *dies = getenv("TEST_DIES");
    if (dies && ++passed == strtol(dies, NULL, 10))
        (void)kill(getpid(), SIGKILL);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    if (getenv("TEST_FULL") && strcmp(to, "state") != 0) {
        errno = ENOSPC;
        return -1;
    }
    pass();
    const long rc = syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
    pass();
    return (int)rc;
}

int unlinkat(int dir, const char *name, int flags)
{
    pass();
    const long rc = syscall(SYS_unlinkat, dir, name, flags);
    pass();
    return (int)rc;
}

/* Of a request; the answer comes later. */
ssize_t send(int socket, const void *data, size_t length, int flags)
{
    pass();
    const long rc = syscall(SYS_sendto, socket, data, length, flags, NULL, 0);
    pass();
    return rc;
}
