/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLIENT_TRANSPORT_CREDENTIALS_H
#define MCAST_CLIENT_TRANSPORT_CREDENTIALS_H

/* What a client trusts over TCP, and how it proves who it is: CA, client certificate, MUNGE
 * (docs/security.md). On a Unix socket the kernel tells both who the other is. */

#include "client/mcast.h"

struct credentials {
    char *cacert;       /* file or hashed folder; NULL: the system's store */
    char *cert, *key;   /* PEM files, both or neither */
    char *munge_socket; /* of munged; NULL: libmunge's own */
    char *server_user;  /* who may serve the Unix socket, too; NULL: MCAST_SERVER_USER */
    char *node;         /* which root says it is, beside a MUNGE credential; NULL: none */
    enum mcast_munge munge;
    bool settled; /* credentials_settle has been here */
};

/* A user's name or uid, as it was set or as MCAST_SERVER_USER says (not in set-user-id programs);
 * or NULL. */
const char *credentials_server_user(const struct credentials *credentials);

/* Before the first request over TCP: what was not set comes from MCAST_CACERT, MCAST_CERT,
 * MCAST_KEY and MCAST_MUNGE_SOCKET (not in set-user-id programs). */
int credentials_settle(struct credentials *credentials, struct mcast_error *error);

/* Before each connection, because files change: that they can be read, and that the key is its
 * owner's alone. MCAST_USAGE with the file and the next step. */
int credentials_check(const struct credentials *credentials, struct mcast_error *error);

/* A certificate is enough of a proof, unless MUNGE was asked for. */
bool credentials_want_munge(const struct credentials *credentials);

/* A fresh MUNGE credential over the payload. *out is the caller's to credentials_forget_munge.
 * socket: of munged; NULL: libmunge's own. MCAST_UNREACHABLE with the word "munge", and why there
 * is none; or MCAST_NOMEM. Each can be used once: a second use is a replay. */
int credentials_make_munge(const char *socket, const char *payload, char **out,
                           struct mcast_error *error);

/* Wipes and frees. Takes NULL. */
void credentials_forget_munge(char *credential);

/* A copy of all of it in *out, which is empty before. */
int credentials_copy(struct credentials *out, const struct credentials *given,
                     struct mcast_error *error);

void credentials_release(struct credentials *credentials);

#endif
