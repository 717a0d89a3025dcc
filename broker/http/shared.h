/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/engine.h"
#include "broker/keyring.h"
#include "broker/http/auth/identity.h"
#include "broker/http/auth/pace.h"
#include "broker/http/listen/quota.h"
#include "broker/http/routes.h"
#include "broker/http/listen/server.h"
#include "broker/http/metrics/traffic.h"
#include "launch/sealed.h"

#include <microhttpd.h>
#include <sys/queue.h>

/* struct http as the parts of the HTTP interface see it. */

struct call;
struct decoder;
struct history;
struct kept;
struct metrics_text;
struct peer;
struct pluginlogins;
struct resolver;
struct stream;
struct tls;
struct workqueue;

enum {
    CONNECTIONS_SPARE = 64, /* above the limit, for connections that get 503 */
};

/* One listening socket and its server. */
struct listener {
    struct http *http;
    struct server *server; /* NULL: closed */
    bool local;            /* the Unix socket: the kernel reports the peer's uid */
    bool front;            /* for jobs, in front of the fabric manager (B9) */
};

struct http {
    uv_loop_t *loop;
    struct engine *engine;
    const struct bearers *bearers;
    struct keyring *keyring;
    const struct config *config; /* and what was read by it: */
    struct rights *rights;
    struct launch_keys launch_keys; /* none: documents are MUNGE credentials */
    struct pluginlogins *plugin_logins;
    struct tls *tls;     /* NULL: TCP is loopback and not encrypted */
    uint64_t generation; /* of the rights: each reload is one */
    struct listener listeners[LISTENERS];
    uint64_t spent_ns; /* on clients' connections, in this turn of the loop */
    struct decoder *decoder;
    struct workqueue *launches; /* documents that are to be encrypted */
    struct resolver *resolver;
    dev_t socket_device;
    ino_t socket_inode;
    struct kept *kept; /* sockets that outlive this process, or NULL */
    int port, front_port;
    bool quiescing, closing;
    void (*step_down)(void *arg); /* http_options */
    void *step_down_arg;
    struct quota quota;               /* of connections */
    LIST_HEAD(peer_list, peer) peers; /* the newest first */
    unsigned young;                   /* of them */
    int heads_epoll;                  /* peer.h: for first bytes */

    LIST_HEAD(call_list, call) calls, spare_calls; /* in progress; kept for reuse */
    unsigned spare_count, owed;                    /* owed: calls whose answer is not out yet */
    LIST_HEAD(stream_list, stream) streams;
    size_t body_bytes;    /* of the large bodies in memory */
    uint64_t durable_seq; /* events up to here may be shown */
    uv_timer_t timer;     /* every second; at the end, the deadline */
    uint64_t pulse_ms;    /* when event streams were last kept from looking dead */

    struct pace minted;                /* tokens, by reservation */
    struct pace topologies;            /* by their jobs' users */
    struct metrics_text *metrics_text; /* the newest; NULL: not requested yet */
    struct traffic traffic;
    struct history *history; /* the last hour */
    uint64_t reloads, reloads_refused;
    bool reload_refused;                  /* the last one: the files are not what is in force */
    char reload_refusal[ERROR_TEXT_SIZE]; /* why; or "" */
    int64_t reloaded_ms;                  /* when that was; 0: there was none */
    bool certificate_over;                /* it was logged */
    int64_t munged_away_ms;               /* since when our munged does not answer; 0: it does */

    void (*drained)(void *arg); /* http_drain; or NULL */
    void *drained_arg;
    uint64_t drain_ms; /* when it began, by the loop */
    unsigned handles;  /* still to be closed */
    void (*closed)(void *arg);
    void *closed_arg;
};

/* The last owed answer has left (call.c says so while stopping). */
void http_settled(struct http *http);

/* ---- events/stream.c: subscribers of events (F24) ---- */

void stream_destroy(struct stream *stream);                  /* NULL is allowed */
struct MHD_Response *stream_response(struct stream *stream); /* to be sent for its call */
/* Something is new: those that wait for it go on. */
void stream_events(struct http *http);
/* A right has ended, or the broker stops: all that wait go on. */
void stream_wake_all(struct http *http);
/* The peer's connection is being closed, which libmicrohttpd does not notice while it waits. */
void stream_end(struct http *http, const struct peer *peer);
/* Every second: those that wait get a keep-alive now and then. */
void stream_pulse(struct http *http);
