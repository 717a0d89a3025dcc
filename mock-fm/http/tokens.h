/* SPDX-License-Identifier: Apache-2.0 */
/* Session tokens, which a job shows to make and delete its multicast trees; access tokens of OAuth
 * 2.0; and the reproducible random numbers that session tokens are made of. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
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

/* From the kernel: at most 256 at a time. */
void random_bytes(void *bytes, size_t size);

/* Advances the state and returns the next number (splitmix64). */
uint64_t dice_next(uint64_t *state);

/* The token of the reservation with this serial number. */
void session_token(const struct session_mint *mint, uint64_t serial,
                   char token[SESSION_TOKEN_SIZE]);

/* Does it look like one? An access token never does. */
bool session_is_token(const char *text);

/* The access tokens that were issued, and which of them are still valid. In memory only, so a
 * restart voids them all. */

#define ACCESSTOKENS_MAX 1024 /* one more, and the oldest is void */

/* As long as the signed tokens (JWT) that real token endpoints hand out: three parts, of which the
 * first names the token and the rest is secret. */
#define ACCESSTOKENS_TEXT_SIZE 1025 /* 1022 hexadecimal digits, two dots and a NUL */

struct accesstokens {
    int64_t lifetime_us; /* of each, above 0 */
    uint64_t issued;
    struct {
        int64_t expires_us; /* 0: void */
        char text[ACCESSTOKENS_TEXT_SIZE];
    } ring[ACCESSTOKENS_MAX]; /* by the order of issue, the oldest overwritten */
};

/* `lifetime_us`: how long each is good for, above 0. */
struct accesstokens *accesstokens_create(int64_t lifetime_us);

/* Wipes them. Takes NULL. */
void accesstokens_destroy(struct accesstokens *tokens);

/* A new token, valid until the next is issued. */
const char *accesstokens_issue(struct accesstokens *tokens, int64_t now_us);

/* Was this one issued, and is it neither expired nor revoked? */
bool accesstokens_opens(const struct accesstokens *tokens, const char *text, int64_t now_us);

/* How many do. */
unsigned accesstokens_live(const struct accesstokens *tokens, int64_t now_us);

/* Voids all of them. */
void accesstokens_revoke(struct accesstokens *tokens);
