/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/slurm/spank/fetch.h"

#include "deploy/slurm/spank/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { VARIABLES_MAX = 4096, VARIABLE_SIZE = 4096 + 64 };

/* An environment for mcast-cleanup: this one, with what is ours taken from the grant. Nothing is
 * allocated, since srun has threads. */
struct surroundings {
    const char *at[VARIABLES_MAX + 1];
    size_t count;
    char ours[GRANT_COUNT][VARIABLE_SIZE];
};

static bool make_environment(struct surroundings *surroundings, const struct grant *grant)
{
    size_t count = 0;
    for (char **variable = environ; *variable; variable++) {
        if (grant_find(*variable, strcspn(*variable, "=")) >= 0)
            continue;
        if (count + GRANT_COUNT >= VARIABLES_MAX)
            return false;
        surroundings->at[count++] = *variable;
    }
    for (int i = 0; i < GRANT_COUNT; i++) {
        if (!grant->values[i])
            continue;
        if (snprintf(surroundings->ours[i], VARIABLE_SIZE, "%s=%s", grant_names[i],
                     grant->values[i]) >= VARIABLE_SIZE)
            return false;
        surroundings->at[count++] = surroundings->ours[i];
    }
    surroundings->at[count] = NULL;
    return true;
}

/* As a child of init, so that neither srun nor a reader of its output waits for it. */
static void detach(void)
{
    sigset_t none;
    const int null = open("/dev/null", O_RDWR);
    for (int signum = 1; signum < NSIG; signum++)
        (void)signal(signum, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    for (int fd = 0; fd <= 2 && null >= 0; fd++)
        (void)dup2(null, fd);
    (void)close_range(null >= 0 ? 3 : 0, UINT_MAX, 0);
    (void)chdir("/");
}

/* Becomes mcast-cleanup. */
__attribute__((noreturn)) static void become_cleanup(const struct fetch *fetch)
{
    static struct grant grant;
    static struct surroundings surroundings;
    struct fetched fetched = {0};
    const char *const argv[] = {fetch->settings->mcast_cleanup, "--wait", "--step", fetch->step,
                                NULL};
    detach();
    if (grant_is_of(getenv(grant_names[GRANT_JOB]), fetch->cluster, fetch->job)) {
        (void)execv(argv[0], (char *const *)argv);
    } else {
        fetch_collectives(fetch, &grant, &fetched);
        if (grant_has_hwcoll(&grant) && make_environment(&surroundings, &grant))
            (void)execve(argv[0], (char *const *)argv, (char *const *)surroundings.at);
    }
    _exit(1);
}

void fetch_clean_up(const struct fetch *fetch)
{
    const pid_t child = fork();
    if (child == 0) {
        (void)setsid();
        if (fork() == 0)
            become_cleanup(fetch);
        _exit(0);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
}
