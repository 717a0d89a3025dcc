/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/peer.h"

#include "broker/http/request/problem.h"
#include "broker/http/listen/tls.h"
#include "broker/http/auth/tokenproof.h"
#include "broker/http/request/writer.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

/* Unauthenticated peers that are probably in their handshake: at most so many, and half of their
 * places. */
enum { FRESH_MAX = 256, FRESH_MS = 2000 };

static int fd_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

static gnutls_session_t session_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info ? (gnutls_session_t)info->tls_session : NULL;
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
    const struct http *http = peer->listener->http;
    if (peer->judged != http->generation)
        certificate_judge(peer->certificate, http->tls ? tls_authorities(http->tls) : NULL);
    if (certificate_fault(peer->certificate, time(NULL)))
        return (struct proof){.kind = PROOF_NONE};
    return (struct proof){.kind = PROOF_CERTIFICATE, .names = certificate_names(peer->certificate)};
}

const struct identity *peer_identity(struct peer *peer)
{
    const struct http *http = peer->listener->http;
    enum proof_kind before = peer->proof.kind;
    if (peer->certificate)
        peer->proof = proof_of_certificate(peer);
    if (peer->judged != http->generation || peer->proof.kind != before)
        peer->identity = rights_judge(http->rights, &peer->proof);
    peer->judged = http->generation;
    return &peer->identity;
}

/* Of the Unix socket. */
static struct proof proof_of_socket(int fd)
{
    struct ucred ucred;
    socklen_t length = sizeof ucred;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &ucred, &length) < 0)
        return (struct proof){.kind = PROOF_NONE};
    return (struct proof){.kind = PROOF_SOCKET, .uid = ucred.uid};
}

/* Without a uid from the kernel, it counts for (uid_t)-1. */
uint64_t peer_user(void *arg, int fd)
{
    const struct listener *listener = arg;
    if (!listener->local)
        return ROOMQUEUE_SHARED;
    const struct proof proof = proof_of_socket(fd);
    const struct identity identity = rights_judge(listener->http->rights, &proof);
    return identity_has_role(&identity)
               ? ROOMQUEUE_SHARED
               : (uint64_t)(proof.kind == PROOF_SOCKET ? proof.uid : UINT32_MAX) + 1;
}

/* ---- its place ---- */

static struct holder holder_of(const struct peer *peer, enum holder_kind kind)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(peer->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return holder_of_address(kind, info->client_addr);
}

static void unauthenticated_add(struct http *http, struct peer *peer)
{
    peer->unauthenticated = true;
    LIST_INSERT_HEAD(&http->unauthenticated, peer, link);
}

static void unauthenticated_remove(struct peer *peer)
{
    LIST_REMOVE(peer, link);
    peer->unauthenticated = false;
}

static void send_bytes(int fd, gnutls_session_t tls, const char *bytes, size_t length)
{
    if (tls)
        (void)gnutls_record_send(tls, bytes, length);
    else
        (void)send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Sends the reason for closing, without waiting: a response that belongs to no request (RFC
 * 9112, 9.5). Not in the middle of another response, nor during a handshake. */
static void send_farewell(int fd, gnutls_session_t tls, const struct problem *problem)
{
    struct writer body = {0}, answer = {0};
    problem_write(problem, &body);
    writer_textf(&answer,
                 "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\nRetry-After: %u\r\n"
                 "Connection: close\r\nContent-Length: %zu\r\n\r\n%.*s",
                 problem->status, MHD_get_reason_phrase_for((unsigned)problem->status),
                 problem->retry_after, body.used, (int)body.used, body.failed ? "" : body.data);
    if (!body.failed && !answer.failed)
        send_bytes(fd, tls, answer.data, answer.used);
    writer_release(&body);
    writer_release(&answer);
}

static void tell_and_shut(struct peer *peer, const struct problem *problem)
{
    if (!peer->answering)
        send_farewell(fd_of(peer->connection), session_of(peer->connection), problem);
    shutdown(fd_of(peer->connection), SHUT_RDWR); /* MHD reads its end next, and frees it */
}

static void close_with_problem(struct peer *peer, const struct problem *problem)
{
    struct http *http = peer->listener->http;
    assert(!peer->closing);
    if (peer->unauthenticated)
        unauthenticated_remove(peer);
    places_give_back(&http->places, &peer->place);
    slowhead_forget(http->slowheads, &peer->head);
    peer->closing = true;
    tell_and_shut(peer, problem);
}

/* Closes the connection that has to make room for this newcomer; false: none does. */
static bool make_room(struct http *http, const struct holder *newcomer)
{
    struct problem problem;
    struct place *place = places_displaced(&http->places, newcomer);
    if (!place)
        return false;
    struct peer *peer = (struct peer *)((char *)place - offsetof(struct peer, place));
    problem_set(&problem, 503, "too-many-connections", NULL,
                "this connection was idle, or its request incomplete, and another one needed its "
                "place; connect again for the next request");
    close_with_problem(peer, &problem);
    http->traffic.refused[REFUSED_DISPLACED]++;
    return true;
}

void peer_too_slow(void *arg, struct slowhead *head)
{
    struct http *http = arg;
    struct problem problem;
    problem_set(&problem, 503, "too-slow", NULL,
                "the head of this request was incomplete %d s after its first byte; send it again "
                "without pauses",
                SLOWHEAD_MS / 1000);
    close_with_problem(head->owner, &problem);
    http->traffic.refused[REFUSED_SLOW]++;
}

/* All nodes of a large job come at once, and a handshake is a millisecond of work. Were all let in,
 * each would wait for all others, give up before its turn, and come again; the oldest would be
 * closed for the next. So a few hundred are worked at, and the others wait outside. A peer that is
 * idle for two seconds does not count. */
bool peer_has_room(void *arg)
{
    const struct listener *listener = arg;
    const struct http *http = listener->http;
    const struct peer *peer = listener->local ? NULL : LIST_FIRST(&http->unauthenticated);
    const unsigned eighth = http->places.max / 8;
    unsigned room = eighth < FRESH_MAX ? eighth : FRESH_MAX;
    while (peer && uv_now(http->loop) - peer->came_ms < FRESH_MS && room > 0) {
        peer = LIST_NEXT(peer, link);
        room--;
    }
    return room > 0;
}

/* With its share of the places, if need be with another's. */
static bool take_share(struct peer *peer, const struct holder *holder)
{
    struct http *http = peer->listener->http;
    const uint64_t now_ms = uv_now(http->loop);
    return places_take_share(&http->places, &peer->place, holder, now_ms) ||
           (make_room(http, holder) &&
            places_take_share(&http->places, &peer->place, holder, now_ms));
}

static bool admit_unauthenticated(struct peer *peer)
{
    const struct holder holder = holder_of(peer, HOLDER_UNAUTHENTICATED);
    if (!take_share(peer, &holder))
        return false;
    unauthenticated_add(peer->listener->http, peer);
    MHD_set_connection_option(peer->connection, MHD_CONNECTION_OPTION_TIMEOUT,
                              (unsigned)ROOM_UNAUTHENTICATED_SECONDS);
    return true;
}

/* False: the connection is closed at once: all that its user, or users, may have are busy at this
 * moment. */
static bool take_place(struct peer *peer)
{
    struct places *places = &peer->listener->http->places;
    if (!peer->listener->local)
        return admit_unauthenticated(peer);
    if (identity_has_role(peer_identity(peer))) {
        peer->surplus = !places_take(places);
        return true;
    }
    /* Without a uid from the kernel, it counts for (uid_t)-1. */
    const bool known = peer->proof.kind == PROOF_SOCKET;
    const struct holder holder = holder_of_user(known ? peer->proof.uid : UINT32_MAX);
    return take_share(peer, &holder);
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
    struct http *http = peer->listener->http;
    if (!peer->unauthenticated || identity->proof.kind == PROOF_NONE)
        return;
    const bool works = !peer->place.waiting;
    unauthenticated_remove(peer);
    places_give_back(&http->places, &peer->place);
    if (!identity_has_role(identity)) {
        const struct holder holder = holder_proved(peer, identity);
        peer->surplus = !take_share(peer, &holder);
        http->traffic.refused[REFUSED_SHARE] += peer->surplus;
    }
    if (!peer->place.share && !places_take(&http->places) && !peer->surplus) {
        peer->surplus = true;
        http->traffic.refused[REFUSED_LIMIT]++;
    }
    if (works)
        place_works(&peer->place);
    MHD_set_connection_option(peer->connection, MHD_CONNECTION_OPTION_TIMEOUT,
                              (unsigned)ROOM_IDLE_SECONDS);
}

/* ---- its requests ---- */

void peer_head_whole(struct peer *peer)
{
    slowhead_whole(peer->listener->http->slowheads, &peer->head);
}

void peer_reads(struct peer *peer)
{
    place_waits(&peer->place, uv_now(peer->listener->http->loop));
}

void peer_decides(struct peer *peer)
{
    place_works(&peer->place);
}

/* A client that does not read its answer counts as idle, too. */
void peer_answers(struct peer *peer)
{
    peer->answering = true;
    place_waits(&peer->place, uv_now(peer->listener->http->loop));
}

void peer_request_over(struct peer *peer)
{
    peer->answering = false;
    if (peer->closing)
        return;
    place_waits(&peer->place, uv_now(peer->listener->http->loop));
    slowhead_over(peer->listener->http->slowheads, &peer->head);
}

void peer_check_heads(void *arg)
{
    const struct listener *listener = arg;
    slowheads_check(listener->http->slowheads);
}

/* ---- its handshake ---- */

/* The client's Finished: what it has shown before is signed with its key. */
static void handshake_finished(gnutls_session_t session, struct peer *peer)
{
    if (peer->certificate)
        return;
    peer->certificate = certificate_take(session);
    peer->judged = 0;
    peer_settle(peer, peer_identity(peer));
    if (!peer->closing && peer->head.fd == 0) /* once */
        slowhead_expect(peer->listener->http->slowheads, &peer->head, fd_of(peer->connection));
}

/* Whether a certificate is trusted is answered when a request comes (certificate_fault); here
 * only what must not be calculated with ends the handshake, before the signature is looked at. */
static int on_message(gnutls_session_t session, unsigned type, unsigned when, unsigned incoming,
                      const gnutls_datum_t *message)
{
    struct peer *peer = gnutls_db_get_ptr(session); /* NULL: it has gone */
    if (peer)
        room_stir(peer->room); /* MHD works without a callback meanwhile */
    if (!incoming)
        return 0;
    if (peer && type == GNUTLS_HANDSHAKE_FINISHED && when == GNUTLS_HOOK_POST)
        handshake_finished(session, peer);
    if (type != GNUTLS_HANDSHAKE_CERTIFICATE_PKT || when != GNUTLS_HOOK_PRE)
        return 0;
    bool tls13 = gnutls_protocol_get_version(session) == GNUTLS_TLS1_3;
    return certificate_message_unbearable(message, tls13) ? GNUTLS_E_CERTIFICATE_ERROR : 0;
}

static void session_setup(struct peer *peer)
{
    struct tls *tls = peer->listener->http->tls;
    gnutls_session_t session = session_of(peer->connection);
    if (!session)
        return;
    peer->tls = tls_hold(tls);
    tls_session_setup(tls, session);
    /* The other pointer that a session can hold is MHD's; this one is for stores of sessions, and
     * there is none. */
    gnutls_db_set_ptr(session, peer);
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

static void peer_leave(struct peer *peer)
{
    struct http *http = peer->listener->http;
    if (peer->unauthenticated)
        unauthenticated_remove(peer);
    if (!peer->closing)
        places_give_back(&http->places, &peer->place);
    slowhead_forget(http->slowheads, &peer->head);
    if (peer->tls)
        gnutls_db_set_ptr(session_of(peer->connection), NULL);
    http->traffic.open[peer->listener - http->listeners]--;
    peer_destroy(peer);
}

static void refuse_newcomer(struct peer *peer)
{
    struct problem problem;
    problem_set(&problem, 503, "too-many-connections", NULL,
                "all connections that users without a role may have are in use; try again, and "
                "keep a connection for several requests");
    tell_and_shut(peer, &problem);
}

static struct peer *arrive(struct listener *listener, struct room *room,
                           struct MHD_Connection *connection)
{
    struct http *http = listener->http;
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL; /* its requests are answered with no_memory */
    peer->listener = listener;
    peer->room = room;
    peer->connection = connection;
    peer->came_ms = uv_now(http->loop);
    if (listener->local)
        peer->proof = proof_of_socket(fd_of(connection));
    peer->head.owner = peer;
    if (!take_place(peer)) {
        http->traffic.refused[REFUSED_SHARE]++;
        refuse_newcomer(peer);
        peer_destroy(peer);
        return NULL;
    }
    http->traffic.refused[REFUSED_LIMIT] += peer->surplus;
    http->traffic.open[listener - http->listeners]++;
    session_setup(peer);
    if (!peer->tls)
        slowhead_expect(http->slowheads, &peer->head, fd_of(connection));
    return peer;
}

void peer_connection(void *arg, struct room *room, struct MHD_Connection *connection,
                     void **context, enum MHD_ConnectionNotificationCode code)
{
    struct listener *listener = arg;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        listener->http->traffic.accepted[listener - listener->http->listeners]++;
        *context = arrive(listener, room, connection);
        return;
    }
    struct peer *gone = *context;
    *context = NULL;
    if (gone)
        peer_leave(gone);
}
