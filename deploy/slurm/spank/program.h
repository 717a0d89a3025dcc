/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Runs one of our programs from within another program's process, with the user's rights only. */

#include <stddef.h>
#include <stdint.h>

enum { PROGRAM_ARGS_MAX = 16, PROGRAM_SAID_SIZE = 256, PROGRAM_STOPPED = -1, PROGRAM_NONE = -2 };

struct program_output {
    char *text; /* what it printed, size bytes at most; no NUL is added */
    size_t size, length;
    char said[PROGRAM_SAID_SIZE]; /* the first line of its standard error, for people */
};

/* argv[0] is a path. The program has the effective user and group of this process as its only ones,
 * no descriptor but its own three, and PATH and LANG for its environment. At the deadline it is
 * killed with all that it started in its group. Its exit status; PROGRAM_STOPPED: killed, or it has
 * printed more than size bytes; PROGRAM_NONE: it could not be started. */
int program_run(const char *const argv[], int64_t deadline_ms, struct program_output *output);

/* Signals as a new program expects them; safe after a fork. */
void program_reset_signals(void);

/* Milliseconds of the monotonic clock. */
int64_t program_now_ms(void);
