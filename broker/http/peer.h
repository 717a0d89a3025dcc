#ifndef MCAST_BROKER_HTTP_PEER_H
#define MCAST_BROKER_HTTP_PEER_H

#include "broker/http/identity.h"
#include "broker/http/shared.h"

/* One connection: who is at its other end, and the place that it holds. */

struct peer {
    struct door *door;
    struct share *share; /* of those without a role, else NULL */
    bool surplus;        /* above the limit: its first request is answered 503, and it is closed */
    struct proof proof;  /* what the connection itself proves */
    struct identity identity;
    uint64_t judged; /* by the http->rights of this generation; 0: not yet */
};

/* Hook of the server; arg is the struct door. */
void peer_connection(void *arg, struct MHD_Connection *connection, void **context,
                     enum MHD_ConnectionNotificationCode code);

/* What the connection itself makes its peer by the rights of this moment. */
const struct identity *peer_identity(struct peer *peer);

#endif
