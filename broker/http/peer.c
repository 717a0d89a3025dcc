#include "broker/http/peer.h"

#include "broker/http/tls.h"
#include "broker/http/tokenproof.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

/* Strangers who are likely to be at their handshake: at most so many, and half of their places. */
enum { FRESH_MAX = 256, FRESH_MS = 2000 };

static int fd_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/* ---- who it is ---- */

const char *peer_fault(const struct peer *peer)
{
    return peer->certificate && peer->proof.kind == PROOF_NONE
               ? certificate_fault(peer->certificate, time(NULL))
               : NULL;
}

/* A certificate is good for its time and as long as its authority is believed. */
static struct proof proof_of_certificate(struct peer *peer)
{
    const struct http *http = peer->door->http;
    if (peer->judged != http->generation)
        certificate_judge(peer->certificate, http->tls ? tls_authorities(http->tls) : NULL);
    if (certificate_fault(peer->certificate, time(NULL)))
        return (struct proof){.kind = PROOF_NONE};
    return (struct proof){.kind = PROOF_CERTIFICATE, .names = certificate_names(peer->certificate)};
}

const struct identity *peer_identity(struct peer *peer)
{
    const struct http *http = peer->door->http;
    enum proof_kind before = peer->proof.kind;
    if (peer->certificate)
        peer->proof = proof_of_certificate(peer);
    if (peer->judged != http->generation || peer->proof.kind != before)
        peer->identity = rights_judge(http->rights, &peer->proof);
    peer->judged = http->generation;
    return &peer->identity;
}

static void prove_locally(struct peer *peer)
{
    struct ucred ucred;
    socklen_t length = sizeof ucred;
    if (getsockopt(fd_of(peer->connection), SOL_SOCKET, SO_PEERCRED, &ucred, &length) == 0)
        peer->proof = (struct proof){.kind = PROOF_SOCKET, .uid = ucred.uid};
}

/* ---- its place ---- */

static struct holder holder_of(const struct peer *peer, enum holder_kind kind)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(peer->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return holder_of_address(kind, info->client_addr);
}

static void strangers_add(struct http *http, struct peer *peer)
{
    peer->stranger = true;
    peer->older = http->newest_stranger;
    if (peer->older)
        peer->older->newer = peer;
    else
        http->oldest_stranger = peer;
    http->newest_stranger = peer;
}

static void strangers_remove(struct http *http, struct peer *peer)
{
    if (peer->older)
        peer->older->newer = peer->newer;
    else
        http->oldest_stranger = peer->newer;
    if (peer->newer)
        peer->newer->older = peer->older;
    else
        http->newest_stranger = peer->older;
    peer->older = peer->newer = NULL;
    peer->stranger = false;
}

static void shut(struct peer *peer)
{
    shutdown(fd_of(peer->connection), SHUT_RDWR); /* MHD reads its end next, and frees it */
}

/* Closes the oldest stranger, of the newcomer's address if it is that which has too many. */
static bool make_room(struct http *http, const struct holder *newcomer)
{
    struct peer *peer = http->oldest_stranger;
    if (places_share_full(&http->places, newcomer))
        while (peer && !holder_equal(newcomer, share_holder(peer->share)))
            peer = peer->newer;
    if (!peer)
        return false;
    strangers_remove(http, peer);
    places_give_back(&http->places, peer->share);
    peer->share = NULL;
    peer->closing = true;
    http->traffic.refused[REFUSED_SHARE]++;
    shut(peer);
    return true;
}

/* All nodes of a large job come at once, and a handshake is a millisecond of work. Were all let in,
 * each would wait for all others, give up before its turn, and come again; the oldest would be
 * closed for the next. So a few hundred are worked at, and the others wait outside. Who does
 * nothing for two seconds keeps nobody out. */
bool peer_has_room(void *arg)
{
    const struct door *door = arg;
    const struct http *http = door->http;
    const struct peer *peer = door->local ? NULL : http->newest_stranger;
    const unsigned eighth = http->places.max / 8;
    unsigned room = eighth < FRESH_MAX ? eighth : FRESH_MAX;
    while (peer && uv_now(http->loop) - peer->came_ms < FRESH_MS && room > 0) {
        peer = peer->older;
        room--;
    }
    return room > 0;
}

static bool take_stranger(struct peer *peer)
{
    struct http *http = peer->door->http;
    const struct holder holder = holder_of(peer, HOLDER_STRANGER);
    peer->share = places_take_share(&http->places, &holder);
    if (!peer->share && make_room(http, &holder))
        peer->share = places_take_share(&http->places, &holder);
    if (!peer->share)
        return false;
    strangers_add(http, peer);
    MHD_set_connection_option(peer->connection, MHD_CONNECTION_OPTION_TIMEOUT,
                              (unsigned)ROOM_STRANGER_SECONDS);
    return true;
}

static bool has_role(const struct identity *identity)
{
    return identity->admin || identity->clusters != 0;
}

/* False: the connection is to be closed unheard, for its user has as many as it may have. */
static bool take_place(struct peer *peer)
{
    struct places *places = &peer->door->http->places;
    if (!peer->door->local)
        return take_stranger(peer);
    if (has_role(peer_identity(peer))) {
        peer->surplus = !places_take(places);
        return true;
    }
    /* Should the kernel not have told the uid, nobody's is what it counts for. */
    const bool told = peer->proof.kind == PROOF_SOCKET;
    const struct holder holder = holder_of_user(told ? peer->proof.uid : UINT32_MAX);
    peer->share = places_take_share(places, &holder);
    return peer->share != NULL;
}

/* Of somebody without a role. A token proves no host: its job can have it on thousands of them. A
 * node's root has a share that no user of the node can take. */
static struct holder holder_proved(const struct peer *peer, const struct identity *identity)
{
    if (identity->proof.kind == PROOF_BEARER)
        return holder_of_bearer(identity->proof.token->scope.number);
    return holder_of(peer, identity->node_of != 0 ? HOLDER_NODE : HOLDER_ADDRESS);
}

void peer_settle(struct peer *peer, const struct identity *identity)
{
    struct http *http = peer->door->http;
    if (!peer->stranger || identity->proof.kind == PROOF_NONE)
        return;
    strangers_remove(http, peer);
    places_give_back(&http->places, peer->share);
    peer->share = NULL;
    if (!has_role(identity)) {
        const struct holder holder = holder_proved(peer, identity);
        peer->share = places_take_share(&http->places, &holder);
        peer->surplus = !peer->share;
        http->traffic.refused[REFUSED_SHARE] += peer->surplus;
    }
    if (!peer->share && !places_take(&http->places) && !peer->surplus) {
        peer->surplus = true;
        http->traffic.refused[REFUSED_LIMIT]++;
    }
    MHD_set_connection_option(peer->connection, MHD_CONNECTION_OPTION_TIMEOUT,
                              (unsigned)ROOM_IDLE_SECONDS);
}

/* ---- its handshake ---- */

static gnutls_session_t session_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info ? (gnutls_session_t)info->tls_session : NULL;
}

static struct peer *peer_of(gnutls_session_t session)
{
    struct MHD_Connection *connection = gnutls_session_get_ptr(session); /* as MHD sets it */
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* The client's Finished: what it has shown before is signed with its key. */
static void finished(gnutls_session_t session, struct peer *peer)
{
    if (peer->certificate)
        return;
    peer->certificate = certificate_take(session);
    peer->judged = 0;
    peer_settle(peer, peer_identity(peer));
}

/* Whether a certificate is trusted is told in words when a request comes (certificate_fault); here
 * only what must not be calculated with ends the handshake, before the signature is looked at. */
static int on_message(gnutls_session_t session, unsigned type, unsigned when, unsigned incoming,
                      const gnutls_datum_t *message)
{
    struct peer *peer = peer_of(session);
    if (peer)
        room_stir(peer->room); /* MHD calls nobody meanwhile, and works all the same */
    if (!incoming)
        return 0;
    if (peer && type == GNUTLS_HANDSHAKE_FINISHED && when == GNUTLS_HOOK_POST)
        finished(session, peer);
    if (type != GNUTLS_HANDSHAKE_CERTIFICATE_PKT || when != GNUTLS_HOOK_PRE)
        return 0;
    bool tls13 = gnutls_protocol_get_version(session) == GNUTLS_TLS1_3;
    return certificate_message_unbearable(message, tls13) ? GNUTLS_E_CERTIFICATE_ERROR : 0;
}

static void dress(struct peer *peer)
{
    struct tls *tls = peer->door->http->tls;
    gnutls_session_t session = session_of(peer->connection);
    if (!session)
        return;
    peer->tls = tls_hold(tls);
    tls_dress(tls, session);
    gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_ANY, GNUTLS_HOOK_BOTH, on_message);
}

/* ---- life ---- */

static void peer_destroy(struct peer *peer)
{
    if (!peer)
        return;
    certificate_destroy(peer->certificate);
    tls_drop(peer->tls);
    free(peer);
}

static void leave(struct peer *peer)
{
    struct http *http = peer->door->http;
    if (peer->stranger)
        strangers_remove(http, peer);
    if (!peer->closing)
        places_give_back(&http->places, peer->share);
    http->traffic.open[peer->door - http->doors]--;
    peer_destroy(peer);
}

static struct peer *arrive(struct door *door, struct room *room, struct MHD_Connection *connection)
{
    struct http *http = door->http;
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL; /* its requests are answered with no_memory */
    peer->door = door;
    peer->room = room;
    peer->connection = connection;
    peer->came_ms = uv_now(http->loop);
    if (door->local)
        prove_locally(peer);
    if (!take_place(peer)) {
        http->traffic.refused[REFUSED_SHARE]++;
        shut(peer);
        peer_destroy(peer);
        return NULL;
    }
    http->traffic.refused[REFUSED_LIMIT] += peer->surplus;
    http->traffic.open[door - http->doors]++;
    dress(peer);
    return peer;
}

void peer_connection(void *arg, struct room *room, struct MHD_Connection *connection,
                     void **context, enum MHD_ConnectionNotificationCode code)
{
    struct door *door = arg;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        door->http->traffic.accepted[door - door->http->doors]++;
        *context = arrive(door, room, connection);
        return;
    }
    struct peer *gone = *context;
    *context = NULL;
    if (gone)
        leave(gone);
}
