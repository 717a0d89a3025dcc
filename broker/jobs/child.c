/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/jobs/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

/* 0 or an errno. */
static int plan_child(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes, int out,
                      int err)
{
    const short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID;
    sigset_t all, none;
    int rc;
    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    /* Descriptors are closed because libraries do not always ask that theirs be. */
    if ((rc = posix_spawn_file_actions_adddup2(files, out, STDOUT_FILENO)) != 0 ||
        (rc = posix_spawn_file_actions_adddup2(files, err, STDERR_FILENO)) != 0 ||
        (rc = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)) ||
        (rc = posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1)) != 0 ||
        (rc = posix_spawn_file_actions_addchdir_np(files, "/")) != 0 ||
        (rc = posix_spawnattr_setsigdefault(attributes, &all)) != 0 ||
        (rc = posix_spawnattr_setsigmask(attributes, &none)) != 0)
        return rc;
    return posix_spawnattr_setflags(attributes, flags);
}

int child_start(char *const *argv, char *const *environment, int out, int err, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    /* Neither fails with glibc. */
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawnattr_init(&attributes);
    int rc = plan_child(&files, &attributes, out, err);
    if (rc == 0)
        rc = posix_spawn(pid, argv[0], &files, &attributes, argv, environment);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&files);
    return -rc;
}
