#ifndef MCAST_BROKER_HTTP_PEER_H
#define MCAST_BROKER_HTTP_PEER_H

#include "broker/http/certificate.h"
#include "broker/http/identity.h"
#include "broker/http/shared.h"

/* One connection: who is at its other end, and the place that it holds (places.h).
 *
 * Over TCP it begins as a stranger, with little time. It gets a place of its own kind when its
 * certificate or a credential in one of its requests proves who it is; when strangers have all
 * their places, the one who has been one for longest is closed to make room for the next. */

struct peer {
    struct door *door;
    struct room *room; /* of its server */
    struct MHD_Connection *connection;
    struct peer *older, *newer; /* while a stranger: the others */
    struct share *share;        /* NULL: has a manager's place, or none any more */
    uint64_t came_ms;           /* by the loop's clock */
    bool stranger;
    bool closing; /* made room for another: its place is given back already */
    bool surplus; /* above the limit: its next request is answered 503, and it is closed */

    struct tls *tls;                 /* what its handshake uses; NULL: not encrypted */
    struct certificate *certificate; /* shown, whatever it is worth; or NULL */
    struct proof proof;              /* what the connection itself proves */
    struct identity identity;
    uint64_t judged; /* by the http->rights of this generation; 0: not yet */
};

/* Hooks of the server; arg is the struct door. */
bool peer_has_room(void *arg); /* false: too many are at their handshake */
void peer_connection(void *arg, struct room *room, struct MHD_Connection *connection,
                     void **context, enum MHD_ConnectionNotificationCode code);

/* What the connection itself makes its peer by the rights and the time of this moment. */
const struct identity *peer_identity(struct peer *peer);

/* Why the certificate that it shows proves nothing, or NULL: it does, or none is shown. Of the
 * moment of the last peer_identity. */
const char *peer_fault(const struct peer *peer);

/* A stranger has proved to be somebody: gives it a place of that kind. */
void peer_settle(struct peer *peer, const struct identity *identity);

#endif
