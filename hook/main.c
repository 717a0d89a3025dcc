/* mcast-cleanup: the trees of a step that ended without removing them (F19). */

#include "hook/detach.h"
#include "hook/options.h"
#include "hook/work.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { GRACE_S = 2, FAILED = 1, MISUSED = 2 };

/* What the signal's handler needs to know. */
static volatile sig_atomic_t late_status;

/* Whatever hangs, in whichever library: the deadline holds. */
static void on_late(int signum)
{
    (void)signum;
    _exit(late_status);
}

/* The token is in our memory: nobody else's to read, and in no core file. */
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
    (void)sigprocmask(SIG_UNBLOCK, &all, NULL); /* whatever the caller had blocked */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGALRM, on_late);
    late_status = options->strict ? FAILED : 0;
    (void)alarm((unsigned)(options->deadline_ms / 1000) + GRACE_S);
}

static int failed(const struct options *options, const char *words)
{
    fprintf(stderr, "mcast-cleanup: %s\n", words);
    return options->strict ? FAILED : 0;
}

static int work(const struct surroundings *surroundings, const struct options *options,
                const struct deadline *deadline)
{
    const struct cleanup cleanup = {.below = options->below, .wait = options->wait};
    struct error err = {0};
    set_signals(options);
    work_fn *run = work_open(&err);
    if (run && run(surroundings, &cleanup, deadline, &err) == OUTCOME_DONE)
        return 0;
    return failed(options, err.text);
}

static const char *look_up(const char *name)
{
    return getenv(name);
}

static int clean_up(const struct options *options)
{
    const struct deadline deadline = deadline_in(options->deadline_ms);
    struct surroundings surroundings;
    struct error err = {0};
    int status = 0, rc = surroundings_read(&surroundings, look_up, options->step, &err);
    if (rc < 0) {
        status = rc == ERROR_NOT_FOUND ? 0 : failed(options, err.text);
    } else if (options->wait) {
        status = work(&surroundings, options, &deadline);
    } else if ((rc = detach()) < 0) {
        status = failed(options, strerror(errno));
    } else if (rc == 0) {
        status = work(&surroundings, options, &deadline);
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
