/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "base/secret.h"
#include "fmapi/wire/secrets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Our certificate (mTLS) and its key, as PEM in memory: what was checked is what is used. A pair
 * that was renewed on disk is used from the next login on. */

struct clientcert {
    struct secret cert; /* certificates, ours first; none: we show nothing */
    struct secret key;
    int64_t ends_ms; /* Unix; when our certificate ends */
};

/* Reads both files; none when the paths are NULL. 0, or an error code with a sentence that names
 * the file: unreadable, no PEM, a key that others can read (keyfile.h) or that a passphrase
 * protects, a key of another certificate, a certificate whose time is over or has not come. */
int clientcert_read(const char *cert_path, const char *key_path, struct clientcert *out,
                    struct error *err);

struct clientcert clientcert_copy(const struct clientcert *cert);

bool clientcert_equal(const struct clientcert *a, const struct clientcert *b);

void clientcert_wipe(struct clientcert *cert);

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
