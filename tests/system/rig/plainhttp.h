/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* A plain HTTP client for tests, one call at a time: a second opinion beside libmcast, which is
 * itself under test. Failures of the transport say why on stderr. */

struct plainhttp;

/* base: "http://host:port", used as the start of every URL. socket: path of a Unix socket, or NULL
 * for TCP. NULL: out of memory. */
struct plainhttp *plainhttp_create(const char *base, const char *socket);
void plainhttp_destroy(struct plainhttp *http); /* NULL is allowed */

/* Basic authentication ("user:password") or "Authorization: Bearer <token>" from now on; NULL:
 * neither. */
int plainhttp_use_basic(struct plainhttp *http, const char *user_password);
/* Takes any certificate: the test steers a server whose certificate is the wrong one. */
int plainhttp_trust_anyone(struct plainhttp *http);
/* Trusts this authority only, and shows this certificate. */
int plainhttp_use_certificate(struct plainhttp *http, const char *ca, const char *cert,
                              const char *key);
int plainhttp_set_timeout(struct plainhttp *http, long ms); /* of each call; else a minute */
int plainhttp_use_bearer(struct plainhttp *http, const char *token);

struct plainhttp_reply {
    int status; /* 0: no answer came */
    char *text; /* the body, NUL-terminated; NULL when no answer came */
    size_t length;
    json_t *json; /* the body decoded; NULL when it is not JSON */
};
void plainhttp_reply_release(struct plainhttp_reply *reply);

/* body: JSON text, or NULL for none. Fills reply, to be released whatever is returned: its status.
 */
int plainhttp_call(struct plainhttp *http, const char *method, const char *path, const char *body,
                   struct plainhttp_reply *reply);

/* Only the status; silent when no answer came. For asking again and again. */
int plainhttp_probe(struct plainhttp *http, const char *path);
