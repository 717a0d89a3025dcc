/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/http/testcert.h"
#include "tests/system/http/site.h"

/* A site whose TCP is TLS, with an authority for its own certificate and its clients'. */

struct tlssite {
    struct site *site;
    struct authority authority; /* ca.pem */
    char certificates[64];      /* folder of all PEM files */
};

/* The options that make it so are added to options; broker lines among them are kept. */
struct tlssite *tlssite_open(const struct site_options *options);
void tlssite_close(struct tlssite *tls);

/* As site_reload and site_restart. */
bool tlssite_reload(struct tlssite *tls, const struct site_options *options);

/* A connection after its handshake, which must succeed. name: whose certificate it shows, of one
 * that tlssite_issue or authority_write has written; NULL: none. */
struct line *tlssite_line(const struct tlssite *tls, const char *name);
/* One before its handshake, and what to do it with. */
struct line *tlssite_tcp(const struct tlssite *tls);
int tlssite_secure(const struct tlssite *tls, struct line *line, const char *name,
                   const char *priorities, const char *alpn);

/* A client's certificate with this name, whose files are called the same. */
void tlssite_issue(struct tlssite *tls, const char *name);

/* Asks on a connection of its own. */
int tlssite_call(struct tlssite *tls, const char *name, const char *method, const char *path,
                 const char *body, struct answer *answer);
