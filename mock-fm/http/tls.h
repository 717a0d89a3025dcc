/* SPDX-License-Identifier: Apache-2.0 */
/* Certificate, key and client authority of the server, which can be exchanged while it serves: each
 * connection has the ones that were in force when it began. */
#pragma once

#include <gnutls/gnutls.h>
#include <stdbool.h>

#include "mock-fm/http/message.h"

/* PEM files. `client_ca` NULL: no client is asked for a certificate. Otherwise the handshake fails,
 * with an alert, for a client that shows none of this authority. */
struct tls_files {
    const char *cert; /* the chain, the server's own first */
    const char *key;
    const char *client_ca;
};

struct tls;

/* Reads the files, whose names must stay valid. NULL with a problem that names the file. */
struct tls *tls_open(const struct tls_files *files, struct problem *problem);

/* Reads them again, for connections that begin from now on. 0; or -1 with a problem, and what was
 * in force stays so. */
int tls_reload(struct tls *tls, struct problem *problem);

/* Gives a connection that begins its certificate; `for_jobs`: its client is not asked for one,
 * whether there is a client_ca or not. The tls must outlive the session. */
void tls_attach(struct tls *tls, gnutls_session_t session, bool for_jobs);

/* Takes NULL. */
void tls_close(struct tls *tls);
