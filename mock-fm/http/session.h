/* SPDX-License-Identifier: Apache-2.0 */
/* Reproducible random numbers, and the session tokens made of them: what a job shows to make and
 * delete its multicast trees. */
#ifndef MCAST_MOCK_FM_HTTP_SESSION_H
#define MCAST_MOCK_FM_HTTP_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#define SESSION_TOKEN_PREFIX "sess-"
#define SESSION_TOKEN_SIZE 38 /* the prefix, 32 hexadecimal digits and a NUL */

/* Which calls of its own job a session token opens, besides those of the job's trees. What a real
 * fabric manager does is not known: the design assumes the first. */
enum session_reach {
    SESSION_OWN_JOB,    /* GET and PATCH */
    SESSION_GET,        /* GET only */
    SESSION_PATCH,      /* PATCH only */
    SESSION_TREES_ONLY, /* neither */
};

struct session_mint {
    bool seeded; /* reproducible, for tests; otherwise from the kernel's random numbers */
    uint64_t seed;
};

/* Advances the state and returns the next number (splitmix64). */
uint64_t dice_next(uint64_t *state);

/* The token of the reservation with this serial number. 0, or -1 when the kernel gives no
 * randomness. */
int session_token(const struct session_mint *mint, uint64_t serial, char token[SESSION_TOKEN_SIZE]);

/* Does it look like one? An access token never does. */
bool session_is_token(const char *text);

#endif
