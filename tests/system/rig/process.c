/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/process.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/secretscan.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOG_SHOWN = 4096 };

struct process {
    pid_t pid;
    bool ended;
    int status; /* of waitpid, when ended */
    char *log;
};

static int niceness; /* of those to come; 0: ours */

bool process_favour(int nice)
{
    const int ours = getpriority(PRIO_PROCESS, 0);
    const bool may = setpriority(PRIO_PROCESS, 0, nice) == 0;

    setpriority(PRIO_PROCESS, 0, ours);
    niceness = may ? nice : 0;
    return may;
}

static void become(const char *const argv[], int log, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it ended before the line above */
        _exit(127);
    if (niceness)
        setpriority(PRIO_PROCESS, 0, niceness);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execv(argv[0], (char *const *)argv);
    perror(argv[0]);
    _exit(127);
}

static void process_free(struct process *process)
{
    free(process->log);
    free(process);
}

struct process *process_start(const char *const argv[], const char *log)
{
    struct process *process = calloc(1, sizeof *process);
    const pid_t parent = getpid();
    int fd = -1;

    if (!process || !(process->log = strdup(log)) ||
        (fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) < 0 ||
        (process->pid = fork()) < 0) {
        perror(argv[0]);
        if (fd >= 0)
            close(fd);
        if (process)
            process_free(process);
        return NULL;
    }
    if (process->pid == 0)
        become(argv, fd, parent);
    close(fd);
    return process;
}

bool process_alive(struct process *process)
{
    if (!process->ended && waitpid(process->pid, &process->status, WNOHANG) == process->pid)
        process->ended = true;
    return !process->ended;
}

int process_exit_status(const struct process *process)
{
    return process->ended && WIFEXITED(process->status) ? WEXITSTATUS(process->status) : -1;
}

static bool has_ended(void *arg)
{
    return !process_alive(arg);
}

int process_stop(struct process *process)
{
    int status = -1;

    if (process_alive(process)) {
        secretscan_fail_if_title(process->pid);
        kill(process->pid, SIGTERM);
    }
    if (!await(has_ended, process, AWAIT_DEADLINE_MS))
        fprintf(stderr, "%d did not end after SIGTERM\n", (int)process->pid);
    else if (!WIFEXITED(process->status))
        fprintf(stderr, "%d was ended by signal %d\n", (int)process->pid,
                WTERMSIG(process->status));
    else
        status = WEXITSTATUS(process->status);
    if (status != 0)
        process_print_log(process);
    process_kill(process);
    return status;
}

void process_kill(struct process *process)
{
    if (!process)
        return;
    if (process_alive(process)) {
        secretscan_fail_if_title(process->pid);
        kill(process->pid, SIGKILL);
        waitpid(process->pid, &process->status, 0);
    }
    process_free(process);
}

void process_signal(struct process *process, int signum)
{
    if (!process_alive(process))
        return;
    kill(process->pid, signum);
    /* kill returns before the process has stopped. */
    if (signum == SIGSTOP)
        (void)waitid(P_PID, (id_t)process->pid, &(siginfo_t){0}, WSTOPPED | WEXITED | WNOWAIT);
}

pid_t process_pid(const struct process *process)
{
    return process->pid;
}

long long process_cpu_ns(const struct process *process)
{
    clockid_t clock;
    struct timespec used;

    if (clock_getcpuclockid(process->pid, &clock) != 0 || clock_gettime(clock, &used) < 0)
        return -1;
    return (long long)used.tv_sec * 1000000000 + used.tv_nsec;
}

void process_print_log(const struct process *process)
{
    char text[LOG_SHOWN];
    FILE *log = fopen(process->log, "re");
    size_t length;

    if (!log)
        return;
    if (fseek(log, -LOG_SHOWN, SEEK_END) < 0)
        rewind(log);
    length = fread(text, 1, sizeof text, log);
    fprintf(stderr, "---- end of %s\n%.*s----\n", process->log, (int)length, text);
    fclose(log);
}
