/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FMAPI_WIRE_CREDENTIAL_H
#define MCAST_FMAPI_WIRE_CREDENTIAL_H

#include "base/secret.h"
#include "fmapi/wire/clientcert.h"
#include "fmapi/wire/secrets.h"

#include <stdbool.h>
#include <stddef.h>

/* What authenticates a request: a header line, a certificate, both or neither.
 *
 * Immutable and reference-counted, wiped with the last reference. So a request in progress keeps
 * the one it was sent with, and equal pointers mean the same credential. The constructors take cert
 * over and leave it empty; the other secrets stay the caller's. */

struct credential {
    struct secret header;      /* "Authorization: …"; none: no such line */
    struct secret quotable[2]; /* parts of it that a server may quote, and what they were made of */
    struct clientcert cert;
    bool session; /* a job's session token */
    unsigned holders;
};

struct credential *credential_plain(struct clientcert *cert);
struct credential *credential_basic(const char *user, struct secret password,
                                    struct clientcert *cert);
struct credential *credential_bearer(struct secret token, struct clientcert *cert);

/* A job's session token, without our certificate, which may allow more than the token (I6). */
struct credential *credential_session(struct secret token);

struct credential *credential_hold(struct credential *credential);
void credential_drop(struct credential *credential); /* NULL is allowed */

bool credential_equal(const struct credential *a, const struct credential *b);

/* Adds what a server that received the header may quote. Valid while the credential is held. */
void credential_add_secrets(const struct credential *credential, struct secrets *secrets);

/* Whether a token fits into headers and environments: 1 to max printable ASCII bytes without space,
 * quote and backslash. */
bool credential_text_valid(const char *text, size_t length, size_t max);

#endif
