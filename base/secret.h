/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A secret in memory: a session token, a password, an access token. It is a type of its own, so
 * that the compiler refuses to print it: code that needs the text calls secret_expose, and every
 * such place is found by searching for that one word.
 *
 * NUL-terminated text; the empty struct ({0}) is "none", which is not the same as an empty secret.
 * Passed by value it is a borrowed view; owned ones come from secret_copy. */
struct secret {
    const char *exposed; /* not to be used but by the functions below */
};

/* A view of text, which stays the caller's. NULL: none. */
static inline struct secret secret_of(const char *text)
{
    return (struct secret){.exposed = text};
}

/* The text, for the one place that has to send or keep it; NULL for none. */
static inline const char *secret_expose(struct secret secret)
{
    return secret.exposed;
}

static inline bool secret_none(struct secret secret)
{
    return !secret.exposed;
}

/* A copy of its own, to be wiped. None stays none; without memory the process ends (memory.h). */
struct secret secret_copy(struct secret secret);

/* Overwrites an owned one, frees it, and leaves none. */
void secret_wipe(struct secret *secret);

/* Whether they are the same, in a time that depends on nothing but the length of b. None equals
 * nothing. */
bool secret_equal(struct secret a, struct secret b);
