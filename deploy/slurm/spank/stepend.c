/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/slurm/spank/stepend.h"

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

enum { ASK_MS = 10000, VARIABLES_MAX = 4096, VARIABLE_SIZE = 4096 + 64 };

/* An environment for mcast-cleanup: this one, with what is ours taken from the grant. Nothing is
 * allocated, since srun has threads. */
struct surroundings {
    const char *at[VARIABLES_MAX + 1];
    size_t count;
    char ours[GRANT_COUNT][VARIABLE_SIZE];
};

static bool is_ours(const char *variable)
{
    const size_t length = strcspn(variable, "=");
    bool found = false;
    for (int i = 0; i < GRANT_COUNT; i++)
        found = found ||
                (strlen(grant_names[i]) == length && memcmp(grant_names[i], variable, length) == 0);
    return found;
}

static bool surround(struct surroundings *surroundings, const struct grant *grant)
{
    size_t count = 0;
    for (char **variable = environ; *variable; variable++) {
        if (is_ours(*variable))
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
static void let_go(void)
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
__attribute__((noreturn)) static void clean(const struct stepend *stepend)
{
    static struct grant grant;
    static struct surroundings surroundings;
    struct fetched fetched = {0};
    char name[GRANT_STEP_SIZE];
    const char *step = grant_step(stepend->step, name);
    const char *const argv[] = {stepend->settings->mcast_cleanup, "--wait", "--step", step, NULL};
    const struct fetch fetch = {.settings = stepend->settings,
                                .cluster = stepend->cluster,
                                .node = "",
                                .job = stepend->job,
                                .step = step,
                                .deadline_ms = program_now_ms() + ASK_MS};
    let_go();
    if (grant_is_of(getenv(grant_names[GRANT_JOB]), stepend->cluster, stepend->job)) {
        (void)execv(argv[0], (char *const *)argv);
    } else {
        fetch_collectives(&fetch, &grant, &fetched);
        if (grant_has_hwcoll(&grant) && surround(&surroundings, &grant))
            (void)execve(argv[0], (char *const *)argv, (char *const *)surroundings.at);
    }
    _exit(1);
}

void stepend_clean(const struct stepend *stepend)
{
    const pid_t child = fork();
    if (child == 0) {
        (void)setsid();
        if (fork() == 0)
            clean(stepend);
        _exit(0);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
}
