/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* How many tokens the bearers of one reservation are given (B3, B8): some at once, and few a second
 * in the long run. Each costs random bytes, MACs and a line of the log, and none has to be asked
 * for: the holder of one makes narrower ones without the broker. Pure. */

enum {
    MINTLIMIT_AT_ONCE = 100,
    MINTLIMIT_EVERY_MS = 1000,    /* in the long run, one */
    MINTLIMIT_RESERVATIONS = 512, /* that are remembered: those that made one a short while ago */
    MINTLIMIT_OF_USER = 64 /* of them of one user, so that his jobs do not block those of others */
};

struct mintlimit_entry {
    uint64_t number;     /* of the reservation */
    uint64_t cleared_ms; /* from then on it may have MINTLIMIT_AT_ONCE again, and is forgotten */
    uint32_t uid;        /* of its owner */
};

/* All zero is a valid one. */
struct mintlimit {
    struct mintlimit_entry entries[MINTLIMIT_RESERVATIONS];
};

/* 0: a token may be made for the reservation with this number and owner, and is counted. Else the
 * milliseconds after which one may be. now_ms: by any clock that does not go back. */
uint64_t mintlimit_take(struct mintlimit *limit, uint64_t number, uint32_t uid, uint64_t now_ms);
