/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/metrics/promtool.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 8 };

bool promtool_there(void)
{
    if (access(PROMTOOL, X_OK) == 0)
        return true;
    fprintf(stderr, "promtool is missing: apt-get install prometheus, then configure again\n");
    return false;
}

static void become(const char *const argv[], const char *input)
{
    int fd = open(input ? input : "/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        _exit(127);
    execv(argv[0], (char *const *)argv);
    _exit(127);
}

bool promtool_passes(const char *const words[], const char *input)
{
    const char *argv[WORDS_MAX + 2] = {PROMTOOL};
    for (int i = 0; i < WORDS_MAX && words[i]; i++)
        argv[i + 1] = words[i];
    int status;
    pid_t pid = fork();
    if (pid < 0)
        return false;
    if (pid == 0)
        become(argv, input);
    if (waitpid(pid, &status, 0) != pid)
        return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
