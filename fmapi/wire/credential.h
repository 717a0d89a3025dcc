#ifndef MCAST_FMAPI_WIRE_CREDENTIAL_H
#define MCAST_FMAPI_WIRE_CREDENTIAL_H

#include "base/secret.h"
#include "fmapi/wire/clientcert.h"
#include "fmapi/wire/secrets.h"

#include <stdbool.h>

/* What a request shows to prove who sends it: a line of its head, a certificate, both or neither.
 *
 * Never changes once made; shared by counting who holds it, and wiped when the last one lets go. So
 * a request under way keeps the one it was sent with, and two are the same when they are the same
 * pointer. The makers take cert and leave none; the other secrets stay the caller's. */

struct credential;

struct credential *credential_plain(struct clientcert *cert);
struct credential *credential_basic(const char *user, struct secret password,
                                    struct clientcert *cert);
struct credential *credential_bearer(struct secret token, struct clientcert *cert);

/* A job's session token. There is no certificate with it: whom ours stands for may do more than the
 * token (I6). */
struct credential *credential_session(struct secret token);
bool credential_is_session(const struct credential *credential);

struct credential *credential_hold(struct credential *credential);
void credential_drop(struct credential *credential); /* NULL is allowed */

bool credential_equal(const struct credential *a, const struct credential *b);

/* "Authorization: …"; none: no such line. */
struct secret credential_header(const struct credential *credential);
const struct clientcert *credential_cert(const struct credential *credential);

/* Adds what a server that saw the header may quote. Valid while the credential is held. */
void credential_add_secrets(const struct credential *credential, struct secrets *secrets);

#endif
