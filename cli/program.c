/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/program.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int start_program(const char *const argv[], int input, int output, pid_t *child)
{
    posix_spawn_file_actions_t files;
    int rc = posix_spawn_file_actions_init(&files);
    if (rc != 0)
        return rc;
    rc = posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
    if (rc == 0)
        rc = posix_spawnp(child, argv[0], &files, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

/* Its exit status, or PROGRAM_FAILED; kills it when it takes too long. */
static int await_program(pid_t child, int timeout_ms)
{
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, child, 0U), .events = POLLIN};
    int status = 0, ready;
    while ((ready = poll(&end, 1, timeout_ms)) < 0 && errno == EINTR)
        continue;
    if (ready <= 0)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (end.fd >= 0)
        close(end.fd);
    return ready > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : PROGRAM_FAILED;
}

/* A file without a name that holds the text; or negative. */
static int open_text(const char *text)
{
    const size_t length = strlen(text);
    const int file = memfd_create("text", MFD_CLOEXEC);
    if (file >= 0 && write(file, text, length) == (ssize_t)length && lseek(file, 0, SEEK_SET) == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

int program_run_for(int timeout_ms, const char *const argv[], const char *input, char *out,
                    size_t size)
{
    const int from = open_text(input ? input : ""), to = open_text("");
    pid_t child = 0;
    int rc = from >= 0 && to >= 0 ? start_program(argv, from, to, &child) : errno;
    if (rc == 0)
        rc = await_program(child, timeout_ms);
    else
        rc = rc == ENOENT || rc == EACCES || rc == ENOTDIR ? PROGRAM_NOT_FOUND : PROGRAM_FAILED;
    const ssize_t got = to >= 0 ? pread(to, out, size - 1, 0) : -1;
    out[got > 0 ? got : 0] = '\0';
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    return rc;
}

int program_run(const char *const argv[], const char *input, char *out, size_t size)
{
    return program_run_for(PROGRAM_TIMEOUT_MS, argv, input, out, size);
}

bool program_locate(const char *relative, char out[PROGRAM_PATH_SIZE])
{
    char path[PATH_MAX], whole[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    const size_t space = slash ? sizeof path - (size_t)(slash + 1 - path) : 0;
    out[0] = '\0';
    if (!slash || (size_t)snprintf(slash + 1, space, "%s", relative) >= space ||
        !realpath(path, whole) || strlen(whole) >= PROGRAM_PATH_SIZE)
        return false;
    memcpy(out, whole, strlen(whole) + 1);
    return true;
}
