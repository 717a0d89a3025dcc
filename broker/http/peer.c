#include "broker/http/peer.h"

#include <stdlib.h>
#include <sys/socket.h>

static int fd_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

const struct identity *peer_identity(struct peer *peer)
{
    const struct http *http = peer->door->http;
    if (peer->judged != http->generation) {
        peer->identity = rights_judge(http->rights, &peer->proof);
        peer->judged = http->generation;
    }
    return &peer->identity;
}

static void prove(struct peer *peer, int fd)
{
    struct ucred ucred;
    socklen_t length = sizeof ucred;
    if (!peer->door->local || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &ucred, &length) < 0)
        return;
    peer->proof = (struct proof){.kind = PROOF_SOCKET, .uid = ucred.uid};
}

/* False: the connection is to be closed unheard, for its user has as many as it may have. */
static bool take_place(struct peer *peer)
{
    struct places *places = &peer->door->http->places;
    const struct identity *identity = peer_identity(peer);
    if (identity->admin || identity->clusters) {
        peer->surplus = !places_take(places);
        return true;
    }
    uint32_t uid = identity->proof.kind == PROOF_SOCKET ? identity->proof.uid : PLACES_NOBODY;
    peer->share = places_take_share(places, uid);
    return peer->share != NULL;
}

void peer_connection(void *arg, struct MHD_Connection *connection, void **context,
                     enum MHD_ConnectionNotificationCode code)
{
    struct door *door = arg;
    struct http *http = door->http;
    struct traffic *traffic = &http->traffic;
    const long which = door - http->doors;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        struct peer *gone = *context;
        if (gone) {
            places_give_back(&http->places, gone->share);
            traffic->open[which]--;
        }
        free(gone);
        *context = NULL;
        return;
    }
    traffic->accepted[which]++;
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return; /* its requests are answered with no_memory */
    peer->door = door;
    prove(peer, fd_of(connection));
    bool placed = take_place(peer);
    traffic->refused[REFUSED_LIMIT] += placed && peer->surplus;
    traffic->refused[REFUSED_SHARE] += !placed;
    if (placed) {
        traffic->open[which]++;
        *context = peer;
        return;
    }
    free(peer);
    shutdown(fd_of(connection), SHUT_RDWR); /* MHD reads its end next, and frees it */
}
