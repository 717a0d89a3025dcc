/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/auth/certificate.h"
#include "broker/http/auth/identity.h"
#include "broker/http/shared.h"

/* One connection: who is at its other end, and what it counts for (quota.h).
 *
 * On TCP it begins unauthenticated, with little time. It counts for its holder when its certificate
 * or a credential in one of its requests proves who it is. When a class has all its connections, an
 * idle one is closed with 503 for the next. */

/* A request whose head is begun has PEER_HEAD_MS to complete it, however its bytes trickle in (B8).
 *
 * libmicrohttpd reports a request when its head is complete, and takes each byte for a sign of
 * life. So connections that are between two requests are watched here, too, by an epoll of our own:
 * once, for the first byte that comes, before libmicrohttpd reads it. That costs a connection
 * nothing while its requests follow each other: it is watched when it has been quiet for a while.
 * Bytes that come before that, behind an answer, are noticed with the next ones; until then it
 * counts as quiet. */
enum { PEER_HEAD_MS = 10000, PEER_QUIET_MS = 1000 };

enum peer_head {
    HEAD_COMPLETE, /* a request is being served, or nothing is expected yet */
    HEAD_QUIET,    /* the last request is over */
    HEAD_WATCHED,  /* for a first byte */
    HEAD_BEGUN
};

struct peer {
    struct listener *listener;
    struct httpworker *worker; /* that serves it */
    struct MHD_Connection *connection;
    LIST_ENTRY(peer) link;
    struct quota_slot slot;
    enum peer_head head; /* of its next request */
    uint64_t head_ms;    /* since when it is QUIET or BEGUN */
    int watched_fd;      /* once a head is expected; else 0 */
    bool in_epoll;
    uint64_t came_ms;     /* by the loop's clock */
    bool unauthenticated; /* and on TCP */
    bool young;           /* that, and probably in its handshake */
    bool handshaking;
    bool answering; /* an answer is queued and not sent yet */
    bool closing;   /* is being closed: not counted any more, and no request of it is served */
    bool surplus;   /* above the limit: its next request is answered 503, and it is closed */

    struct tls *tls;                 /* what its handshake uses; NULL: not encrypted */
    struct certificate *shown;       /* in the handshake: that it has the key is not known yet */
    struct certificate *certificate; /* shown, whether trusted or not; or NULL */
    struct identity identity;        /* that the connection itself proves */
    uint64_t judged;                 /* by the http->rights of this generation; 0: not yet */
};

enum peer_request {
    PEER_RECEIVING, /* its head is complete, its body has to come */
    PEER_DECIDING,  /* the broker decides, or finds out who asks */
    PEER_ANSWERING, /* its answer is queued */
    PEER_OVER
};
void peer_request(struct peer *peer, enum peer_request state);

/* Closes those whose next request's head takes too long; every second. */
void peer_close_slow(struct http *http);

/* Hooks of the server; arg is the struct listener. */
uint64_t peer_user(void *arg, int fd); /* users without a role have turns of their own */
void peer_check_heads(void *arg);
/* False: too many are there, or at their handshake. */
bool peer_may_accept(void *arg, unsigned connections);
void peer_connection(void *arg, struct httpworker *worker, struct MHD_Connection *connection,
                     void **context, enum MHD_ConnectionNotificationCode code);

/* What the connection itself makes its peer by the rights and the time of this moment. */
const struct identity *peer_identity(struct peer *peer);

/* Why the certificate that it shows proves nothing, or NULL: it does, or none is shown. Of the
 * moment of the last peer_identity. */
const char *peer_fault(const struct peer *peer);

/* The peer has authenticated: from now on it counts for that identity. */
void peer_settle(struct peer *peer, const struct identity *identity);
