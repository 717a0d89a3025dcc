/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/peer.h"

#include "broker/http/listen/tls.h"
#include "broker/http/auth/tokenproof.h"
#include "base/memory.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

/* Unauthenticated peers that are probably in their handshake: at most so many, and half of their
 * quota. They are for two or three seconds. */
enum { HANDSHAKES_MAX = 256, HANDSHAKE_MS = 2000 };

enum { READY_MAX = 64 };

static int fd_of(const struct peer *peer)
{
    return MHD_get_connection_info(peer->connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

static gnutls_session_t session_of(const struct peer *peer)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(peer->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info ? (gnutls_session_t)info->tls_session : NULL;
}

static uint64_t now_ms(const struct peer *peer)
{
    return uv_now(peer->listener->http->loop);
}

static void set_head(struct peer *peer, enum peer_head head)
{
    peer->head = head;
    peer->head_ms = now_ms(peer);
}

/* ---- who it is ---- */

const char *peer_fault(const struct peer *peer)
{
    return peer->certificate && peer->identity.proof.kind == PROOF_NONE
               ? certificate_fault(peer->certificate, time(NULL))
               : NULL;
}

/* A certificate is good for its time and as long as its authority is trusted. */
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
    const struct proof proof =
        peer->certificate ? proof_of_certificate(peer) : peer->identity.proof;
    if (peer->judged != http->generation || proof.kind != peer->identity.proof.kind)
        peer->identity = rights_judge(http->rights, &proof);
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
static uint32_t uid_of(const struct proof *proof)
{
    return proof->kind == PROOF_SOCKET ? proof->uid : UINT32_MAX;
}

uint64_t peer_user(void *arg, int fd)
{
    const struct listener *listener = arg;
    if (!listener->local)
        return WORKERQUEUE_SHARED;
    const struct proof proof = proof_of_socket(fd);
    const struct identity identity = rights_judge(listener->http->rights, &proof);
    return identity_has_role(&identity) ? WORKERQUEUE_SHARED : (uint64_t)uid_of(&proof) + 1;
}

/* ---- closing ---- */

/* Sends the reason for closing, without waiting: a response that belongs to no request (RFC
 * 9112, 9.5). Not in the middle of another response, nor during a handshake. */
static void peer_shutdown(struct peer *peer, enum traffic_refusal why, const char *code,
                          const char *detail)
{
    char body[512], answer[1024];
    gnutls_session_t tls = session_of(peer);
    const int length = snprintf(body, sizeof body,
                                "{\"type\":\"about:blank\",\"title\":\"Service Unavailable\","
                                "\"status\":503,\"detail\":\"%s\",\"code\":\"%s\"}",
                                detail, code);
    const int size = snprintf(answer, sizeof answer,
                              "HTTP/1.1 503 Service Unavailable\r\n"
                              "Content-Type: application/problem+json\r\nRetry-After: 1\r\n"
                              "Connection: close\r\nContent-Length: %d\r\n\r\n%s",
                              length, body);
    assert(length < (int)sizeof body && size < (int)sizeof answer);
    peer->listener->http->traffic.refused[why]++;
    if (!peer->answering && tls)
        (void)gnutls_record_send(tls, answer, (size_t)size);
    else if (!peer->answering)
        (void)send(fd_of(peer), answer, (size_t)size, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(fd_of(peer), SHUT_RDWR); /* MHD reads its end next, and frees it */
}

static void set_young(struct peer *peer, bool young)
{
    peer->listener->http->young += (unsigned)young - (unsigned)peer->young;
    peer->young = young;
}

static void uncount(struct peer *peer)
{
    struct http *http = peer->listener->http;
    if (peer->closing)
        return;
    peer->closing = true;
    set_young(peer, false);
    quota_release(&http->quota, &peer->slot);
    if (peer->in_epoll)
        (void)epoll_ctl(http->heads_epoll, EPOLL_CTL_DEL, peer->watched_fd, NULL);
    peer->in_epoll = false;
    set_head(peer, HEAD_COMPLETE);
}

/* ---- its quota ---- */

static struct quota_holder holder_by_address(const struct peer *peer, enum quota_class which)
{
    return quota_address(
        which,
        MHD_get_connection_info(peer->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
}

/* When many nodes connect at once, a handshake is a millisecond of work for each. If all were
 * accepted, each would wait for all others, give up before its turn, and come again; the oldest
 * would be closed for the next. So a few hundred are served, and the others wait (server.h). A peer
 * that is idle for two or three seconds does not count. */
bool peer_may_accept(void *arg, unsigned connections)
{
    const struct listener *listener = arg;
    const struct http *http = listener->http;
    const unsigned eighth = http->quota.max / 8;
    return connections < http->quota.max + CONNECTIONS_SPARE &&
           (listener->local || http->young < (eighth < HANDSHAKES_MAX ? eighth : HANDSHAKES_MAX));
}

/* Counts it for the holder, if need be after closing another. */
static bool take_share(struct peer *peer, const struct quota_holder *holder)
{
    struct quota *quota = &peer->listener->http->quota;
    if (quota_take_share(quota, &peer->slot, holder))
        return true;
    struct quota_slot *slot = quota_displaced(quota, holder);
    if (!slot)
        return false;
    struct peer *displaced = (struct peer *)((char *)slot - offsetof(struct peer, slot));
    uncount(displaced);
    peer_shutdown(displaced, REFUSED_DISPLACED, "too-many-connections",
                  "this connection was idle, or its request incomplete, and was closed for another "
                  "one; connect again for the next request");
    stream_end(peer->listener->http, displaced);
    return quota_take_share(quota, &peer->slot, holder);
}

/* False: all connections that its user, or users, may have are busy at this moment. */
static bool count_new(struct peer *peer)
{
    const bool local = peer->listener->local;
    if (local && identity_has_role(peer_identity(peer))) {
        peer->surplus = !quota_take(&peer->listener->http->quota);
        return true;
    }
    const struct quota_holder holder = local ? quota_user(uid_of(&peer->identity.proof))
                                             : holder_by_address(peer, CLASS_UNAUTHENTICATED);
    if (!take_share(peer, &holder))
        return false;
    peer->unauthenticated = !local;
    set_young(peer, !local);
    if (!local)
        MHD_set_connection_option(peer->connection, MHD_CONNECTION_OPTION_TIMEOUT,
                                  (unsigned)WORKER_UNAUTHENTICATED_SECONDS);
    return true;
}

/* Of a peer without a role. A token proves no host: its job can have it on thousands of them. A
 * node's root has a share that no user of the node can take. */
static struct quota_holder holder_proved(const struct peer *peer, const struct identity *identity)
{
    if (identity->proof.kind == PROOF_BEARER)
        return quota_bearer(identity->proof.token->scope.number);
    return holder_by_address(peer, identity->node_of != 0 ? CLASS_NODES : CLASS_USERS);
}

void peer_settle(struct peer *peer, const struct identity *identity)
{
    struct http *http = peer->listener->http;
    if (!peer->unauthenticated || peer->closing || identity->proof.kind == PROOF_NONE)
        return;
    const bool served = !peer->slot.idle;
    peer->unauthenticated = false;
    set_young(peer, false);
    quota_release(&http->quota, &peer->slot);
    if (!identity_has_role(identity)) {
        const struct quota_holder holder = holder_proved(peer, identity);
        peer->surplus = !take_share(peer, &holder);
        http->traffic.refused[REFUSED_SHARE] += peer->surplus;
    }
    if (!peer->slot.share && !quota_take(&http->quota) && !peer->surplus) {
        peer->surplus = true;
        http->traffic.refused[REFUSED_LIMIT]++;
    }
    if (served)
        quota_serve(&http->quota, &peer->slot);
    MHD_set_connection_option(peer->connection, MHD_CONNECTION_OPTION_TIMEOUT,
                              (unsigned)WORKER_IDLE_SECONDS);
}

/* ---- its requests ---- */

static void set_answering(struct peer *peer, bool answering)
{
    peer->worker->answering += (unsigned)answering - (unsigned)peer->answering;
    peer->answering = answering;
}

static void set_handshaking(struct peer *peer, bool handshaking)
{
    peer->worker->handshakes += (unsigned)handshaking - (unsigned)peer->handshaking;
    peer->handshaking = handshaking;
}

/* A client that does not read its answer counts as idle, too. */
void peer_request(struct peer *peer, enum peer_request state)
{
    struct quota *quota = &peer->listener->http->quota;
    set_answering(peer, state == PEER_ANSWERING);
    if (state == PEER_OVER && peer->closing)
        return; /* no head is expected of it any more */
    set_head(peer, state == PEER_OVER ? HEAD_QUIET : HEAD_COMPLETE);
    if (state == PEER_DECIDING)
        quota_serve(quota, &peer->slot);
    else if (state != PEER_RECEIVING || !peer->slot.idle)
        quota_wait(quota, &peer->slot);
}

/* Without memory for it, the connection counts as quiet for ever. */
static void watch_first_byte(struct peer *peer)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = peer};
    const int how = peer->in_epoll ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    const int epoll_fd = peer->listener->http->heads_epoll;
    const bool watched = epoll_ctl(epoll_fd, how, peer->watched_fd, &event) == 0;
    peer->in_epoll = peer->in_epoll || watched;
    peer->head = watched ? HEAD_WATCHED : HEAD_COMPLETE;
}

/* A request may come now: the peer is new, or its handshake is over. Most who connect have sent
 * theirs by then: they need no watching. */
static void expect_head(struct peer *peer)
{
    char byte;
    if (peer->watched_fd != 0)
        return;
    peer->watched_fd = fd_of(peer);
    if (recv(peer->watched_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
        set_head(peer, HEAD_BEGUN);
    else
        watch_first_byte(peer);
}

void peer_check_heads(void *arg)
{
    struct epoll_event ready[READY_MAX];
    int count;
    do {
        count = epoll_wait(((struct listener *)arg)->http->heads_epoll, ready, READY_MAX, 0);
        for (int i = 0; i < count; i++)
            if (((struct peer *)ready[i].data.ptr)->head == HEAD_WATCHED)
                set_head(ready[i].data.ptr, HEAD_BEGUN);
    } while (count == READY_MAX);
}

void peer_close_slow(struct http *http)
{
    struct peer *peer = NULL;
    peer_check_heads(&http->listeners[LISTENER_UNIX]);
    LIST_FOREACH(peer, &http->peers, link)
    {
        const uint64_t since_ms = now_ms(peer) - peer->head_ms;
        if (now_ms(peer) - peer->came_ms >= HANDSHAKE_MS)
            set_young(peer, false);
        if (peer->head == HEAD_QUIET && since_ms >= PEER_QUIET_MS)
            watch_first_byte(peer);
        if (peer->head != HEAD_BEGUN || since_ms < PEER_HEAD_MS)
            continue;
        uncount(peer);
        peer_shutdown(peer, REFUSED_SLOW, "too-slow",
                      "the head of this request was incomplete 10 s after its first byte; send it "
                      "again without pauses");
    }
}

static_assert((int)PEER_HEAD_MS == 10000, "peer_close_slow says so");

/* ---- its handshake ---- */

/* The client's Finished: what it has shown before is signed with its key. */
static void handshake_finished(gnutls_session_t session, struct peer *peer)
{
    unsigned count = 0;
    set_handshaking(peer, false);
    if (peer->certificate)
        return;
    if (gnutls_certificate_get_peers(session, &count)) {
        peer->certificate = peer->shown;
        peer->shown = NULL;
    }
    peer->judged = 0;
    peer_settle(peer, peer_identity(peer));
    if (!peer->closing)
        expect_head(peer);
}

/* Whether a certificate is trusted is answered when a request comes (certificate_fault); here
 * only what must not be calculated with ends the handshake, before the signature is looked at. */
static int on_message(gnutls_session_t session, unsigned type, unsigned when, unsigned incoming,
                      const gnutls_datum_t *message)
{
    struct peer *peer = gnutls_db_get_ptr(session); /* NULL: it has gone */
    if (peer)
        peer->worker->progress = true; /* MHD works without a callback meanwhile */
    if (!incoming)
        return 0;
    if (peer && type == GNUTLS_HANDSHAKE_FINISHED && when == GNUTLS_HOOK_POST)
        handshake_finished(session, peer);
    if (type != GNUTLS_HANDSHAKE_CERTIFICATE_PKT || when != GNUTLS_HOOK_PRE)
        return 0;
    bool tls13 = gnutls_protocol_get_version(session) == GNUTLS_TLS1_3;
    const char *unbearable = "it has gone";
    if (peer) {
        certificate_destroy(peer->shown);
        peer->shown = certificate_read(message, tls13, &unbearable);
    }
    return unbearable ? GNUTLS_E_CERTIFICATE_ERROR : 0;
}

static void session_setup(struct peer *peer)
{
    gnutls_session_t session = session_of(peer);
    if (!session)
        return;
    peer->tls = tls_hold(peer->listener->http->tls);
    set_handshaking(peer, true);
    tls_session_setup(peer->tls, session);
    /* The other pointer that a session can hold is MHD's; this one is for stores of sessions, and
     * there is none. */
    gnutls_db_set_ptr(session, peer);
    gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_ANY, GNUTLS_HOOK_BOTH, on_message);
}

/* ---- life ---- */

static struct peer *peer_create(struct listener *listener, struct httpworker *worker,
                                struct MHD_Connection *connection)
{
    struct http *http = listener->http;
    struct peer *peer = memory_zeroed(sizeof *peer);
    peer->listener = listener;
    peer->worker = worker;
    peer->connection = connection;
    peer->came_ms = now_ms(peer);
    if (listener->local)
        peer->identity.proof = proof_of_socket(fd_of(peer));
    if (!count_new(peer)) {
        peer_shutdown(peer, REFUSED_SHARE, "too-many-connections",
                      "all connections that users without a role may have are in use; try again, "
                      "and keep a connection for several requests");
        free(peer);
        return NULL;
    }
    LIST_INSERT_HEAD(&http->peers, peer, link);
    http->traffic.refused[REFUSED_LIMIT] += peer->surplus;
    http->traffic.open[listener - http->listeners]++;
    session_setup(peer);
    if (!peer->tls)
        expect_head(peer);
    return peer;
}

static void peer_destroy(struct peer *peer)
{
    struct http *http = peer->listener->http;
    uncount(peer);
    set_answering(peer, false);
    set_handshaking(peer, false);
    LIST_REMOVE(peer, link);
    if (peer->tls)
        gnutls_db_set_ptr(session_of(peer), NULL);
    http->traffic.open[peer->listener - http->listeners]--;
    certificate_destroy(peer->shown);
    certificate_destroy(peer->certificate);
    tls_drop(peer->tls);
    free(peer);
}

void peer_connection(void *arg, struct httpworker *worker, struct MHD_Connection *connection,
                     void **context, enum MHD_ConnectionNotificationCode code)
{
    struct listener *listener = arg;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        listener->http->traffic.accepted[listener - listener->http->listeners]++;
        *context = peer_create(listener, worker, connection);
        return;
    }
    if (*context)
        peer_destroy(*context);
    *context = NULL;
}
