/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Libraries that few programs of those that could need them do need: opened at the first use, and
 * never closed, because loading one with all below it can take longer than all that a program does.
 * Where one is not installed, the rest works without. */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct library_function {
    const char *name;
    void *place; /* of the pointer to it */
};

struct library {
    const char *name;                         /* "libmunge.so.2", or a path */
    const struct library_function *functions; /* ended by one without a name */
    bool (*begin)(void); /* called once, when all are there; NULL: nothing is to be done */
    /* library.c's own */
    pthread_mutex_t lock;
    bool tried;
    char fault[200];
};

/* NULL: all functions are in their places. Else why it cannot be used, for the middle of a
 * sentence. */
const char *library_fault(struct library *library);
