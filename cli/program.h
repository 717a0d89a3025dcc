#ifndef MCAST_CLI_PROGRAM_H
#define MCAST_CLI_PROGRAM_H

/* Runs another program, without a shell, and keeps what it says. */

#include <stddef.h>

enum { PROGRAM_NOT_FOUND = -1, PROGRAM_FAILED = -2, PROGRAM_TIMEOUT_MS = 10000 };

/* argv[0] is a path, or a name that is looked for in PATH. Waits for its end, but not longer than
 * PROGRAM_TIMEOUT_MS: then it is killed. Standard input is `input` (short: it has to fit into a
 * pipe; NULL: empty); standard output and error go into out together, cut to fit. Returns its exit
 * status, or a code: it is not there; it could not be run, was killed, or took too long. */
int program_run(const char *const argv[], const char *input, char *out, size_t size);

/* The same with another time limit. */
int program_run_for(int timeout_ms, const char *const argv[], const char *input, char *out,
                    size_t size);

#endif
