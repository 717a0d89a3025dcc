/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Counts how often a library that should never wait could have: it stands between the libraries and
 * the C library (so the program must export its symbols), and sees every call by which one waits
 * for somebody else. Counting rather than timing, because a call that could wait is wrong even
 * where it happens to be fast. */

#include <stdbool.h>

struct watch {
    unsigned seen;  /* calls that were looked at, so that one sees that it looks */
    unsigned waits; /* of them, those that could wait */
    char first[32]; /* the first of these */
};

/* From here to watch_end the calls of this thread count. */
void watch_begin(struct watch *watch);
void watch_end(void);

/* The look-up of this name (NULL: of none) lasts until watch_let_go, in whatever thread it is; then
 * it finds 127.0.0.1. */
void watch_hold(const char *name);
void watch_let_go(void);
/* How many look-ups are being held. */
unsigned watch_held(void);
