/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/slurm/spank/program.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What it prints goes to files without a name, of OUTPUT_MAX bytes at most. */
enum { NOT_STARTED = 127, OUTPUT_MAX = 1 << 20 };

int64_t program_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void program_reset_signals(void)
{
    sigset_t none;
    for (int signum = 1; signum < NSIG; signum++)
        (void)signal(signum, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* slurmstepd has lent us the user's effective ids and kept root's as its real ones: a program that
 * was run like that could take them back. */
static bool become_user(void)
{
    const uid_t user = geteuid();
    const gid_t group = getegid();
    return setresgid(group, group, group) == 0 && setresuid(user, user, user) == 0;
}

/* In the child of a process with threads: nothing but what is safe after a fork. */
__attribute__((noreturn)) static void become(const char *const argv[], int out, int err)
{
    static const char *const environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
                                              NULL};
    static const struct rlimit longest = {OUTPUT_MAX, OUTPUT_MAX}, none_dumped = {0, 0};
    int null = open("/dev/null", O_RDONLY);
    out = fcntl(out, F_DUPFD, 3); /* the caller may have closed some of its first three */
    err = fcntl(err, F_DUPFD, 3);
    (void)setsid();
    program_reset_signals();
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(err, STDERR_FILENO) >= 0 && close_range(3, UINT_MAX, 0) == 0 &&
        setrlimit(RLIMIT_FSIZE, &longest) == 0 && setrlimit(RLIMIT_CORE, &none_dumped) == 0 &&
        become_user())
        (void)execve(argv[0], (char *const *)argv, (char *const *)environment);
    _exit(NOT_STARTED);
}

/* False: it does not end by the deadline. */
static bool await_end(pid_t child, int64_t deadline_ms, int *result)
{
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, child, 0U), .events = POLLIN};
    int ready = -1, status = 0;
    do {
        const int64_t left = deadline_ms - program_now_ms();
        ready = left > 0 ? poll(&end, 1, (int)(left < INT_MAX ? left : INT_MAX)) : 0;
    } while (ready < 0 && errno == EINTR);
    if (end.fd >= 0)
        close(end.fd);
    if (ready <= 0)
        return false;
    /* Other code in this process may have waited for it: then how it ended is not known. */
    if (waitpid(child, &status, 0) == child && WIFEXITED(status))
        *result = WEXITSTATUS(status) == NOT_STARTED ? PROGRAM_NONE : WEXITSTATUS(status);
    return true;
}

/* The first line, with nothing that drives a terminal. */
static void read_said(int err, char said[PROGRAM_SAID_SIZE])
{
    const ssize_t got = pread(err, said, PROGRAM_SAID_SIZE - 1, 0);
    said[got > 0 ? got : 0] = '\0';
    said[strcspn(said, "\n")] = '\0';
    text_make_printable(said);
}

static int await_program(pid_t child, int out, int err, int64_t deadline_ms,
                         struct program_output *output)
{
    struct stat status = {0};
    int result = PROGRAM_STOPPED;
    if (!await_end(child, deadline_ms, &result)) {
        (void)kill(-child, SIGKILL);
        (void)kill(child, SIGKILL); /* before it has made its group */
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    const ssize_t got = pread(out, output->text, output->size, 0);
    output->length = got > 0 ? (size_t)got : 0;
    read_said(err, output->said);
    const bool whole = fstat(out, &status) == 0 && status.st_size == got;
    return whole ? result : PROGRAM_STOPPED;
}

int program_run(const char *const argv[], int64_t deadline_ms, struct program_output *output)
{
    const int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
    const pid_t child = out >= 0 && err >= 0 ? fork() : -1;
    int result = PROGRAM_NONE;
    output->length = 0;
    output->said[0] = '\0';
    if (child == 0)
        become(argv, out, err);
    if (child > 0)
        result = await_program(child, out, err, deadline_ms, output);
    if (out >= 0)
        close(out);
    if (err >= 0)
        close(err);
    return result;
}
