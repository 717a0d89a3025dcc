#ifndef MCAST_BROKER_HTTP_HTTP_H
#define MCAST_BROKER_HTTP_HTTP_H

#include "broker/engine.h"
#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

/* The broker's interface to the world (api.md): HTTP/1.1 on a Unix socket and on loopback TCP. It
 * turns requests into events for the engine and the engine's words into answers. */

/* Who may act as a cluster's resource manager. */
struct http_cluster {
    const char *name;
    const char *const *users; /* NULL-terminated: user names or numeric uids */
};

struct http_options {
    uv_loop_t *loop;
    struct engine *engine;
    const char *socket_path;
    unsigned socket_mode;
    const char *socket_group;  /* name or number; NULL: as it comes */
    const char *listen;        /* "HOST:PORT", loopback only; port 0: any; NULL: no TCP */
    const char *const *admins; /* NULL-terminated, as above */
    const struct http_cluster *clusters;
    size_t cluster_count;
    bool metrics_anonymous;   /* /metrics without a proven identity */
    unsigned connections_max; /* of both together; 0: 4096. Managers and admins above it are told
                                 503, anybody else above a small share is closed (places.h) */
};

struct http;

/* Binds, starts to listen and registers itself with engine_listen; copies the options. While the
 * engine is not leader, calls that need it are answered 503. NULL with a sentence in err: a user
 * that does not exist, a socket in use, an address that is not loopback. */
struct http *http_create(const struct http_options *options, struct error *err);

/* TCP port, 0 without TCP. */
int http_port(const struct http *http);

/* Takes no more connections and requests (503, Connection: close) and ends event streams; what was
 * accepted still gets its answer. Call before engine_stop. */
void http_quiesce(struct http *http);

/* Lets the answers that are on their way leave (two seconds at most), then closes and frees
 * everything; closed is called from the loop. Only when the engine has stopped, or never started:
 * it must not speak any more. NULL is allowed (closed is not called). */
void http_destroy(struct http *http, void (*closed)(void *arg), void *arg);

#endif
