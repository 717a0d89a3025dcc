/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-cleanup: the trees of a step that ended without removing them (F19). */

#include "hook/hook.h"

#include "base/duration.h"
#include "base/roff.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Unless --deadline is given; hook/text/usage.txt says it, too. */
enum {
    DEADLINE_MS = 30000,
    DEADLINE_MAX_MS = 3600 * 1000,
    GRACE_S = 2,
    GO_ON = -1,
    FAILED = 1,
    MISUSED = 2
};

/* ---- command line ---- */

static void print_page(FILE *out)
{
    roff_title(out, "MCAST\\-CLEANUP", 8);
    fputs(text_find("page-head", ".man"), out);
    roff_example(out, text_find("usage", ".txt"));
    fputs(text_find("page-tail", ".man"), out);
}

enum option_id { STEP = 1, LIMIT, HELP = 'h', MAN_PAGE = 256, VERSION };

/* GO_ON, or the exit status, after what standard output or error says. */
static int read_option(struct options *options, int option)
{
    switch ((enum option_id)option) {
    case STEP:
        options->step = optarg;
        return GO_ON;
    case LIMIT:
        options->deadline_ms = duration_parse(optarg, DURATION_BARE_SECONDS, DEADLINE_MAX_MS);
        if (options->deadline_ms > 0)
            return GO_ON;
        fprintf(stderr,
                "mcast-cleanup: --deadline %.40s: a time such as 500ms, 30 (seconds) or 10m, of at "
                "most 1h\n",
                optarg);
        return MISUSED;
    case HELP:
        fputs(text_find("usage", ".txt"), stdout);
        return 0;
    case MAN_PAGE:
        print_page(stdout);
        return 0;
    case VERSION:
        puts("mcast-cleanup " MCAST_VERSION);
        return 0;
    }
    return MISUSED; /* getopt has said it */
}

/* The same. Fills options also when it fails: strict is known even where something is wrong. */
static int read_options(struct options *options, int argc, char **argv)
{
    int status = GO_ON, option;
    const struct option known[] = {
        {"step", required_argument, NULL, STEP},
        {"below", no_argument, &options->below, 1},
        {"wait", no_argument, &options->wait, 1},
        {"deadline", required_argument, NULL, LIMIT},
        {"strict", no_argument, &options->strict, 1},
        {"help", no_argument, NULL, HELP},
        {"man-page", no_argument, NULL, MAN_PAGE},
        {"version", no_argument, NULL, VERSION},
        {0},
    };
    *options = (struct options){.deadline_ms = DEADLINE_MS};
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1)
        if (option != 0 && status == GO_ON)
            status = read_option(options, option);
    options->end_ms = hook_now_ms() + options->deadline_ms;
    /* Not shown: it may be a token. */
    if (status == GO_ON && optind < argc) {
        fputs("mcast-cleanup: takes no arguments; the step is named with --step\n", stderr);
        status = MISUSED;
    }
    return status;
}

/* ---- the process ---- */

/* For the signal handler. */
static volatile sig_atomic_t early_status;

/* The deadline holds even if a library hangs, and no job fails without memory (base/memory.h). */
static void end_early(int signum)
{
    (void)signum;
    _exit(early_status);
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
    (void)signal(SIGALRM, end_early);
    (void)signal(SIGABRT, end_early);
    early_status = options->strict ? FAILED : 0;
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

static int clean_up(const struct options *options)
{
    struct environment environment;
    struct error err = {0};
    int rc = environment_read(&environment, options->step, &err);
    if (rc < 0)
        return rc == ERROR_NOT_FOUND ? 0 : report_failure(options, err.text);
    if (!options->wait && (rc = detach()) != 0)
        return rc < 0 ? report_failure(options, strerror(errno)) : 0;
    set_signals(options);
    if (cleanup_run(&environment, options, &err) == OUTCOME_DONE)
        return 0;
    return report_failure(options, err.text);
}

int main(int argc, char **argv)
{
    struct options options;
    guard_memory();
    int status = read_options(&options, argc, argv);
    if (status == GO_ON)
        return clean_up(&options);
    if (status == 0)
        return fflush(stdout) == 0 ? 0 : FAILED;
    return options.strict ? status : 0;
}
