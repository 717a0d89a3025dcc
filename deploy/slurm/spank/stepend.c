/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/slurm/spank/fetch.h"

#include "deploy/slurm/spank/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { VARIABLES_MAX = 4096 };

/* An environment for mcast-cleanup: this one, with what is ours taken from the grant, where it is
 * NAME=value (as grant_take left it). Nothing is allocated, since srun has threads. False: it is
 * too long. */
static bool make_environment(const char *out[VARIABLES_MAX + 1], const struct grant *grant)
{
    size_t count = 0;
    for (char **variable = environ; *variable; variable++) {
        if (count == VARIABLES_MAX - GRANT_COUNT)
            return false;
        if (grant_find(*variable, strcspn(*variable, "=")) < 0)
            out[count++] = *variable;
    }
    for (int i = 0; i < GRANT_COUNT; i++) {
        if (grant->values[i])
            out[count++] = grant->values[i] - strlen(grant_names[i]) - 1;
    }
    out[count] = NULL;
    return true;
}

/* As a child of init, so that neither srun nor a reader of its output waits for it. */
static void detach(void)
{
    const int null = open("/dev/null", O_RDWR);
    program_reset_signals();
    for (int fd = 0; fd <= 2 && null >= 0; fd++)
        (void)dup2(null, fd);
    (void)close_range(null >= 0 ? 3 : 0, UINT_MAX, 0);
    (void)chdir("/");
}

/* Becomes mcast-cleanup. */
__attribute__((noreturn)) static void become_cleanup(const struct fetch *fetch)
{
    static struct grant grant;
    static const char *environment[VARIABLES_MAX + 1];
    struct fetched fetched = {0};
    const char *const argv[] = {fetch->settings->mcast_cleanup, "--wait", "--step", fetch->step,
                                NULL};
    detach();
    if (grant_is_of(getenv(grant_names[GRANT_JOB]), fetch->cluster, fetch->job)) {
        (void)execv(argv[0], (char *const *)argv);
    } else {
        fetch_collectives(fetch, &grant, &fetched);
        if (grant_has_hwcoll(&grant) && make_environment(environment, &grant))
            (void)execve(argv[0], (char *const *)argv, (char *const *)environment);
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
