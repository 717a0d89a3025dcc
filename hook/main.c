/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-cleanup: the trees of a step that ended without removing them (F19). */

#include "hook/cleanup.h"
#include "hook/options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_S = 2, FAILED = 1, MISUSED = 2 };

/* For the signal handler. */
static volatile sig_atomic_t late_status;

/* The deadline holds even if a library hangs. */
static void on_alarm(int signum)
{
    (void)signum;
    _exit(late_status);
}

/* The token is in this process's memory: no other process may read it, and no core file has it. */
static void guard_memory(void)
{
    const struct rlimit none = {0};
    (void)prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
    (void)setrlimit(RLIMIT_CORE, &none);
}

static void set_signals(const struct options *options)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_UNBLOCK, &all, NULL); /* if the caller had blocked any */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGALRM, on_alarm);
    late_status = options->strict ? FAILED : 0;
    (void)alarm((unsigned)(options->deadline_ms / 1000) + GRACE_S);
}

/* A pipe that stayed open would have the caller wait for its end. */
static void release_descriptors(void)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2 && null >= 0; fd++)
        (void)dup2(null, fd);
    (void)close_range(null >= 0 ? 3 : 0, UINT_MAX, 0);
    (void)chdir("/");
}

/* Leaves the work to a process in a session of its own, without a descriptor or a folder of the
 * caller's, so that the caller neither waits for it nor ends it by mistake. 1 in the caller, 0 in
 * the new process; -1 with errno. Only while there is one thread. */
static int detach(void)
{
    int status = 0;
    pid_t child = fork();
    if (child < 0)
        return -1;
    if (child > 0) {
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        errno = WIFEXITED(status) ? WEXITSTATUS(status) : EAGAIN;
        return errno == 0 ? 1 : -1;
    }
    (void)setsid();
    /* Its child does not lead the session, so it never gets a terminal, and init adopts it. */
    child = fork();
    if (child != 0)
        _exit(child < 0 ? errno : 0);
    release_descriptors();
    return 0;
}

static int report_failure(const struct options *options, const char *words)
{
    fprintf(stderr, "mcast-cleanup: %s\n", words);
    return options->strict ? FAILED : 0;
}

static int run_with_alarm(const struct environment *environment, const struct options *options,
                          const struct deadline *deadline)
{
    const struct cleanup cleanup = {.below = options->below, .wait = options->wait};
    struct error err = {0};
    set_signals(options);
    if (cleanup_run(environment, &cleanup, deadline, &err) == OUTCOME_DONE)
        return 0;
    return report_failure(options, err.text);
}

static int clean_up(const struct options *options)
{
    const struct deadline deadline = deadline_in(options->deadline_ms);
    struct environment environment;
    struct error err = {0};
    int status = 0, rc = environment_read(&environment, options->step, &err);
    if (rc < 0) {
        status = rc == ERROR_NOT_FOUND ? 0 : report_failure(options, err.text);
    } else if (options->wait) {
        status = run_with_alarm(&environment, options, &deadline);
    } else if ((rc = detach()) < 0) {
        status = report_failure(options, strerror(errno));
    } else if (rc == 0) {
        status = run_with_alarm(&environment, options, &deadline);
    }
    return status;
}

int main(int argc, char **argv)
{
    struct options options;
    guard_memory();
    switch (options_read(&options, argc, argv)) {
    case OPTIONS_GO_ON:
        return clean_up(&options);
    case OPTIONS_ANSWERED:
        return fflush(stdout) == 0 ? 0 : FAILED;
    default:
        return options.strict ? MISUSED : 0;
    }
}
