#include "hook/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

/* A pipe that stayed open would have the caller wait for its end. */
static void let_go(void)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2 && null >= 0; fd++)
        (void)dup2(null, fd);
    (void)close_range(null >= 0 ? 3 : 0, UINT_MAX, 0);
    (void)chdir("/");
}

int detach(void)
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
    /* Its child leads no session, so that it never gets a terminal, and is nobody's here. */
    child = fork();
    if (child != 0)
        _exit(child < 0 ? errno : 0);
    let_go();
    return 0;
}
