/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

/* A program that the broker runs beside itself. Nothing of ours reaches it: it gets the folder /, a
 * session of its own, /dev/null for stdin, no descriptors but the two it is given, signals as they
 * are by default, and exactly this environment.
 *
 * Takes as long as the program's file takes to be opened, however much memory we have: the pages
 * are not copied (posix_spawn), where uv_spawn's fork keeps a broker of 1 GB from its clients for a
 * tenth of a second. */

/* argv[0]: an absolute path; out, err: its stdout and stderr. 0, with the pid, which is its process
 * group's too, for the caller to wait for; or a negative errno. */
int child_start(char *const *argv, char *const *environment, int out, int err, pid_t *pid);
