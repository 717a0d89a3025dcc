/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/program.h"

#include <errno.h>
#include <fcntl.h>
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

static int start_program(const char *const argv[], int input, int output, bool apart, pid_t *child)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    (void)posix_spawnattr_init(&attributes);
    if (apart)
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    int rc = posix_spawn_file_actions_init(&files);
    if (rc != 0)
        return rc;
    rc = posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
    if (rc == 0)
        rc = posix_spawnp(child, argv[0], &files, &attributes, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return rc;
}

static int code_of(int error)
{
    return error == ENOENT || error == EACCES || error == ENOTDIR ? PROGRAM_NOT_FOUND
                                                                  : PROGRAM_FAILED;
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
    int rc = from >= 0 && to >= 0 ? start_program(argv, from, to, false, &child) : errno;
    if (rc == 0)
        rc = await_program(child, timeout_ms);
    else
        rc = code_of(rc);
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

int program_start(const char *const argv[], struct program *program)
{
    int pipes[2] = {-1, -1};
    const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int rc = input < 0 || pipe2(pipes, O_CLOEXEC) < 0 ? errno : 0;
    if (rc == 0)
        rc = start_program(argv, input, pipes[1], true, &program->pid);
    if (input >= 0)
        close(input);
    if (pipes[1] >= 0)
        close(pipes[1]);
    program->output = pipes[0];
    if (rc == 0)
        return 0;
    if (pipes[0] >= 0)
        close(pipes[0]);
    return code_of(rc);
}

int program_end(struct program *program)
{
    close(program->output);
    kill(-program->pid, SIGTERM);
    return await_program(program->pid, PROGRAM_TIMEOUT_MS);
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
