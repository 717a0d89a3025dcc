/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Runs another program, without a shell, and keeps its output; locates installed files. */

#include <stdbool.h>
#include <stddef.h>

enum { PROGRAM_NOT_FOUND = -1, PROGRAM_FAILED = -2 };
enum { PROGRAM_TIMEOUT_MS = 10000 /* for most */ };

/* argv[0] is a path, or a name that is looked for in PATH. Waits for its end, but not longer than
 * timeout_ms: then it is killed. Standard input is `input` (NULL: empty); standard output
 * and error go into out together, cut to fit. Returns its exit status, or a code: it is not there;
 * it could not be run, was killed, or took too long. */
int program_run(const char *const argv[], const char *input, char *out, size_t size);

/* The same with another time limit. */
int program_run_for(int timeout_ms, const char *const argv[], const char *input, char *out,
                    size_t size);

/* One that runs on beside this program: with an empty standard input, and in a process group of its
 * own, so that Ctrl-C is this program's alone. */
struct program {
    int pid;
    int output; /* what it writes to standard output and error comes from here */
};

/* 0, or a code as above. */
int program_start(const char *const argv[], struct program *program);
/* Ends it (SIGTERM, then SIGKILL), if it runs yet, with all of its group, and closes its output.
 * Its exit status, or PROGRAM_FAILED. */
int program_end(struct program *program);

enum { PROGRAM_PATH_SIZE = 1024 };

/* Locates a file installed with this program: relative to this program's folder ("../sbin/mcastd"),
 * so that any prefix is right, and no variable of the environment matters. out: the whole path,
 * without ".."; "" and false: there is none. */
bool program_locate(const char *relative, char out[PROGRAM_PATH_SIZE]);
