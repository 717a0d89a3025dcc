/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* A real program under test: started, stopped politely, killed at once. It never outlives the test:
 * the kernel kills it when the test ends, however that happens. Failures say why on stderr. */

struct process;

/* Whatever is started from now on gets this niceness (setpriority(2)). False: we may not give it,
 * and all is as before. */
bool process_favour(int nice);

/* Runs argv[0] (a path) with argv, the test's environment, and stdout and stderr appended to the
 * file log. NULL: it could not be started. */
struct process *process_start(const char *const argv[], const char *log);
/* False once it has ended by itself. */
bool process_alive(struct process *process);

/* Of one that has ended by itself: its exit status, or -1 when a signal ended it. */
int process_exit_status(const struct process *process);

/* SIGTERM, and waits: the exit status, or -1 when a signal ended it or it did not end within the
 * deadline. Anything but 0 shows the end of its log on stderr. Frees it. */
int process_stop(struct process *process);
/* kill -9, and waits until it is gone. Frees it; NULL is allowed. */
void process_kill(struct process *process);

/* Sends it a signal; nothing when it has ended. Of SIGSTOP it returns when it has stopped. */
void process_signal(struct process *process, int signum);

pid_t process_pid(const struct process *process);

/* CPU time it has used, all threads, ns; -1 when it is gone. */
long long process_cpu_ns(const struct process *process);

/* Prints the end of its log to stderr. */
void process_print_log(const struct process *process);
