/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/slurm/spank/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_STARTED = 127 };

int64_t program_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
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
    sigset_t none;
    int null = open("/dev/null", O_RDONLY);
    out = fcntl(out, F_DUPFD, 3); /* the caller may have closed some of its first three */
    err = fcntl(err, F_DUPFD, 3);
    (void)setsid();
    for (int signum = 1; signum < NSIG; signum++)
        (void)signal(signum, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(err, STDERR_FILENO) >= 0 && close_range(3, UINT_MAX, 0) == 0 && become_user())
        (void)execve(argv[0], (char *const *)argv, (char *const *)environment);
    _exit(NOT_STARTED);
}

/* One of its outputs: what fits is kept. */
struct sink {
    char *text;
    size_t size, length;
    bool drops; /* what does not fit; else that is a fault */
};

/* 1: something came, 0: its end, -1: it is too much, or cannot be read. */
static int read_some(int from, struct sink *sink)
{
    char rest[512];
    const size_t left = sink->size - sink->length;
    const ssize_t got =
        read(from, left > 0 ? sink->text + sink->length : rest, left > 0 ? left : sizeof rest);
    if (got < 0)
        return errno == EINTR ? 1 : -1;
    if (got > 0 && left == 0)
        return sink->drops ? 1 : -1;
    sink->length += (size_t)got;
    return got > 0;
}

/* Until both are at their ends. False: not by the deadline, or something else is wrong. */
static bool read_outputs(const int from[2], int64_t deadline_ms, struct sink sinks[2])
{
    struct pollfd ends[2] = {{.fd = from[0], .events = POLLIN}, {.fd = from[1], .events = POLLIN}};
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
        const int64_t left = deadline_ms - program_now_ms();
        const int ready = left > 0 ? poll(ends, 2, (int)(left < INT_MAX ? left : INT_MAX)) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return false;
        for (int i = 0; i < 2; i++) {
            const int rc = ends[i].revents ? read_some(from[i], &sinks[i]) : 1;
            if (rc < 0)
                return false;
            if (rc == 0)
                ends[i].fd = -1;
        }
    }
    return true;
}

/* Leaves its first line, with nothing that drives a terminal. */
static void clean_line(char *text)
{
    text[strcspn(text, "\n")] = '\0';
    for (; *text; text++) {
        if (*text < ' ' || *text > '~')
            *text = '?';
    }
}

/* It has closed its outputs, which is not yet its end. False: it does not come by the deadline. */
static bool await_end(pid_t child, int64_t deadline_ms, int *result)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    for (;;) {
        int status = 0;
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child && WIFEXITED(status))
            *result = WEXITSTATUS(status) == NOT_STARTED ? PROGRAM_NONE : WEXITSTATUS(status);
        /* Other code in this process may have waited for it: then how it ended is not known. */
        if (ended == child || (ended < 0 && errno == ECHILD))
            return true;
        if (program_now_ms() >= deadline_ms)
            return false;
        (void)nanosleep(&pause, NULL);
    }
}

static int await_program(pid_t child, const int from[2], int64_t deadline_ms,
                         struct program_output *output)
{
    struct sink sinks[2] = {{.text = output->text, .size = output->size},
                            {.text = output->said, .size = sizeof output->said - 1, .drops = true}};
    int result = PROGRAM_STOPPED;
    const bool whole = read_outputs(from, deadline_ms, sinks);
    output->length = sinks[0].length;
    clean_line(output->said);
    if (whole && await_end(child, deadline_ms, &result))
        return result;
    (void)kill(-child, SIGKILL);
    (void)kill(child, SIGKILL); /* before it has made its group */
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    return PROGRAM_STOPPED;
}

int program_run(const char *const argv[], int64_t deadline_ms, struct program_output *output)
{
    int out[2], err[2], result = PROGRAM_NONE;
    output->length = 0;
    memset(output->said, 0, sizeof output->said);
    if (pipe2(out, O_CLOEXEC) < 0)
        return PROGRAM_NONE;
    if (pipe2(err, O_CLOEXEC) == 0) {
        const pid_t child = fork();
        if (child == 0)
            become(argv, out[1], err[1]);
        close(out[1]);
        close(err[1]);
        if (child > 0)
            result = await_program(child, (const int[]){out[0], err[0]}, deadline_ms, output);
        close(err[0]);
    } else {
        close(out[1]);
    }
    close(out[0]);
    return result;
}
