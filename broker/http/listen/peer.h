/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_LISTEN_PEER_H
#define MCAST_BROKER_HTTP_LISTEN_PEER_H

#include "broker/http/auth/certificate.h"
#include "broker/http/auth/identity.h"
#include "broker/http/shared.h"
#include "broker/http/listen/slowhead.h"

/* One connection: who is at its other end, and the place that it holds (places.h).
 *
 * On TCP it begins unauthenticated, with little time. It gets a place of its own kind when its
 * certificate or a credential in one of its requests proves who it is. When a kind has all its
 * places, an idle one is closed with 503 to make room for the next. */

struct peer {
    struct listener *listener;
    struct room *room; /* of its server */
    struct MHD_Connection *connection;
    LIST_ENTRY(peer) link; /* while unauthenticated: the others */
    struct place place;
    struct slowhead head; /* of its next request */
    uint64_t came_ms;     /* by the loop's clock */
    bool unauthenticated;
    bool answering; /* an answer is queued and not gone yet */
    bool closing;   /* is being closed: its place is given back, and no request of it counts */
    bool surplus;   /* above the limit: its next request is answered 503, and it is closed */

    struct tls *tls;                 /* what its handshake uses; NULL: not encrypted */
    struct certificate *certificate; /* shown, whatever it is worth; or NULL */
    struct proof proof;              /* what the connection itself proves */
    struct identity identity;
    uint64_t judged; /* by the http->rights of this generation; 0: not yet */
};

/* What becomes of its requests: the head of one is whole, its body has to come, the broker decides
 * (or finds out who asks), its answer is queued, it is over. */
void peer_head_whole(struct peer *peer);
void peer_reads(struct peer *peer);
void peer_decides(struct peer *peer);
void peer_answers(struct peer *peer);
void peer_request_over(struct peer *peer);

/* The head of its next request takes too long: closes it. For slowheads_create, arg is the http. */
void peer_too_slow(void *arg, struct slowhead *head);

/* Hooks of the server; arg is the struct listener. */
uint64_t peer_user(void *arg, int fd); /* users without a role have turns of their own */
void peer_check_heads(void *arg);      /* for heads that are begun */
bool peer_has_room(void *arg);         /* false: too many are at their handshake */
void peer_connection(void *arg, struct room *room, struct MHD_Connection *connection,
                     void **context, enum MHD_ConnectionNotificationCode code);

/* What the connection itself makes its peer by the rights and the time of this moment. */
const struct identity *peer_identity(struct peer *peer);

/* Why the certificate that it shows proves nothing, or NULL: it does, or none is shown. Of the
 * moment of the last peer_identity. */
const char *peer_fault(const struct peer *peer);

/* The peer has authenticated: gives it a place of that kind. */
void peer_settle(struct peer *peer, const struct identity *identity);

#endif
