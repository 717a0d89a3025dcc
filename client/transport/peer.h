/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The brokers that may be asked: where they are, what is trusted, and how the client proves who it
 * is (docs/security.md). */

#include "base/secret.h"
#include "client/mcast.h"

#include <sys/un.h>

/* ---- where: endpoint.c ---- */

enum {
    ENDPOINTS_MAX = 8,
    ENDPOINT_BASE_MAX = 280, /* "https://", a host name of 253, a port */
};

struct endpoint {
    char socket[sizeof(((struct sockaddr_un *)NULL)->sun_path)]; /* "" when it is TCP */
    char base[ENDPOINT_BASE_MAX]; /* what paths are appended to: "http://localhost" for a socket */
    bool tls;
};

/* "unix:/path", "/path", "https://host:port", or "http://host:port" where the host is this machine;
 * else MCAST_USAGE with what is allowed. No credentials in the URL, because URLs end up in
 * messages. Jobs' tokens never cross a network in the clear: http to another host is refused. */
int endpoint_parse(struct endpoint *endpoint, const char *url, struct mcast_error *error);

/* The brokers of one fabric, of which one leads (B7). */
struct endpoints {
    struct endpoint list[ENDPOINTS_MAX];
    unsigned count;   /* from 1 */
    unsigned current; /* who is asked first: the one that led when it was last asked */
};

/* Such URLs, separated by a comma or blanks, each before the next URL: a socket's path may have
 * both in it. MCAST_USAGE also when there are too many, or one is named twice. */
int endpoints_parse(struct endpoints *endpoints, const char *urls, struct mcast_error *error);

/* urls, or MCAST_URL, or the default socket. */
int endpoints_find(struct endpoints *endpoints, const char *urls, struct mcast_error *error);

/* The place of a URL in the list; -1: it is not there. What a broker says of a leader chooses among
 * those that the user has named, and is never asked itself: tokens and credentials go to no other.
 */
int endpoints_index(const struct endpoints *endpoints, const char *url);

/* Who is asked after the one at this place: the one of the hint (-1: none) unless it has been
 * asked, else the next that has not. asked: a bit for each. count: all have been. */
unsigned endpoints_next(unsigned count, unsigned after, int hint, unsigned asked);

const struct endpoint *endpoints_current(const struct endpoints *endpoints);

/* Whether one of them is asked over TCP. */
bool endpoints_remote(const struct endpoints *endpoints);

/* What to call it in messages: the socket's path, or "https://host:port". */
const char *endpoint_name(const struct endpoint *endpoint);

/* ---- CA, client certificate, MUNGE: credentials.c ---- */

enum credential {
    CACERT, /* file or hashed folder; none: the system's store */
    CERT,   /* PEM files, both or neither */
    KEY,
    MUNGE_SOCKET, /* of munged; none: libmunge's own */
    SERVER_USER,  /* who may serve the Unix socket, too; none: MCAST_SERVER_USER */
    NODE,         /* which node root says it is, beside a MUNGE credential */
    CREDENTIAL_COUNT
};

struct credentials {
    char *is[CREDENTIAL_COUNT]; /* NULL: none */
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

/* A fresh MUNGE credential over the payload. *out (NULL before) is the caller's to wipe and free,
 * also after a failure. socket: of munged; NULL: libmunge's own. MCAST_UNREACHABLE with the word
 * "munge", and why there is none; or MCAST_NOMEM. Each can be used once: a second use is a replay.
 */
int credentials_make_munge(const char *socket, const char *payload, char **out,
                           struct mcast_error *error);

/* A copy of all of it in *out, which is empty before. */
int credentials_copy(struct credentials *out, const struct credentials *given,
                     struct mcast_error *error);

void credentials_release(struct credentials *credentials);

/* ---- who serves the Unix socket: serveruser.c ---- */

/* Tokens are shown there, and what comes back ends up in root's hooks (B8). fd: connected to the
 * socket of this path. configured: a user's name or uid that is trusted as well, or NULL. True for
 * it, for root, for this process's own user, and for the owner of the socket's folder if only he
 * and root can put a socket there. Else false, and words say who serves it. */
bool serveruser_trusted(int fd, const char *path, const char *configured, char *words, size_t size);

/* ---- all of it ---- */

/* What all requests of one handle share. */
struct peer {
    struct endpoints endpoints;
    struct credentials credentials;
    struct secret token;    /* for calls that are made with one; none: not needed yet */
    char unproved[320];     /* why the last request went without a MUNGE credential, or "" */
    int64_t clock_ahead_ms; /* by the last answer's Date, if clock_known */
    bool clock_known;
};
