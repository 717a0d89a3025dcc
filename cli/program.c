/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

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

/* Everything until the other end is closed, of which what fits is kept. False: it took too long. */
static bool read_output(int input, int timeout_ms, char *out, size_t size)
{
    int64_t deadline = now_ms() + timeout_ms;
    size_t used = 0;
    for (;;) {
        char piece[4096];
        struct pollfd waiting = {.fd = input, .events = POLLIN};
        int64_t left = deadline - now_ms();
        int ready = left > 0 ? poll(&waiting, 1, (int)left) : 0;
        if (ready == 0)
            return false;
        ssize_t got = ready > 0 ? read(input, piece, sizeof piece) : -1;
        if (got == 0)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
        size_t space = size - 1 - used;
        size_t kept = got > 0 ? (size_t)got : 0;
        kept = kept < space ? kept : space;
        memcpy(out + used, piece, kept);
        used += kept;
        out[used] = '\0';
    }
}

/* A file without a name that holds the text; or negative. */
static int open_text(const char *text)
{
    const size_t length = text ? strlen(text) : 0;
    const int file = memfd_create("input", MFD_CLOEXEC);
    if (file >= 0 && write(file, text, length) == (ssize_t)length && lseek(file, 0, SEEK_SET) == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

int program_run_for(int timeout_ms, const char *const argv[], const char *input, char *out,
                    size_t size)
{
    int ends[2], status = 0;
    pid_t child = 0;
    out[0] = '\0';
    int from = open_text(input);
    if (from < 0)
        return PROGRAM_FAILED;
    if (pipe2(ends, O_CLOEXEC) < 0) {
        close(from);
        return PROGRAM_FAILED;
    }
    int rc = start_program(argv, from, ends[1], &child);
    close(from);
    close(ends[1]);
    if (rc != 0) {
        close(ends[0]);
        return rc == ENOENT || rc == EACCES || rc == ENOTDIR ? PROGRAM_NOT_FOUND : PROGRAM_FAILED;
    }
    bool whole = read_output(ends[0], timeout_ms, out, size);
    close(ends[0]);
    if (!whole)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return whole && WIFEXITED(status) ? WEXITSTATUS(status) : PROGRAM_FAILED;
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
