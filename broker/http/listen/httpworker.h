/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

/* A daemon of libmicrohttpd, without threads, that serves a few connections.
 *
 * One MHD_run does all that any connection of the daemon is ready for. With hundreds of them, and
 * with many handshakes above all, that takes long and cannot be interrupted. So a server has as
 * many workers as it needs (server.c), each with no more connections than fit in one turn of the
 * loop.
 *
 * What has to be known about 0.9.75 and 1.0.1: its epoll descriptor is polled; after every MHD_run
 * it may have more to do although the descriptor is quiet (pipelined requests), which only
 * MHD_get_timeout tells. 0.9.75 says so of each handshake that waits for its client, too. A
 * connection that waits for us is suspended, gets its response queued while suspended, and goes on
 * in the MHD_run after its resume; all must be resumed before MHD_stop_daemon. */

/* A handshake computes for a millisecond or two, a request for a few dozen microseconds; and a
 * worker with TLS takes a descriptor and 16 KiB for itself (G11). While many clients connected over
 * TLS, one run of a worker computed for at most 2.0 ms with two connections, 3.5 with four, 8.8
 * with sixteen, 12.4 with sixty. */
enum {
    WORKER_CONNECTIONS = 64,
    WORKER_CONNECTIONS_TLS = 2,
    WORKER_CONNECTIONS_USER = 4 /* of one user: all of them together have one turn */
};

/* Seconds until an idle connection is closed. An unauthenticated one's include its handshake, and
 * are longer than a head may take (peer.h), so that a slow one gets its 503. */
enum { WORKER_IDLE_SECONDS = 120, WORKER_UNAUTHENTICATED_SECONDS = 12 };

/* The workers of a server that have work. Shared ones (managers and admins, and all of TCP) have
 * their turns in the order in which they came. The others serve one user each, and the user who was
 * served least recently has the next turn, however many workers his connections fill: a user with
 * many requests delays only himself (B8). */

enum { WORKERQUEUE_SHARED = 0 };

struct httpworker;
struct server_hooks;
TAILQ_HEAD(worker_list, httpworker);

struct workerqueue {
    struct worker_list all; /* workers of the server, with work or without; the caller's */
    struct worker_list shared, users;
    uint64_t turns; /* of users so far */
};

struct httpworker {
    struct MHD_Daemon *daemon;
    const struct server_hooks *hooks;
    struct workerqueue *queue;
    uv_poll_t poll;
    unsigned connections, capacity;
    unsigned unreported;            /* of the connections: MHD has not reported their start */
    unsigned handshakes, answering; /* of the connections: in their handshake, being answered */
    int idle_runs;                  /* of MHD without progress, one after another */
    bool progress; /* in its last run: MHD made a callback, or continued a handshake */
    bool resumed;  /* a connection, since its last run began */

    /* the queue's: */
    uint64_t user; /* whose connections it serves, or WORKERQUEUE_SHARED */
    uint64_t served;
    bool queued;
    TAILQ_ENTRY(httpworker) turn;

    TAILQ_ENTRY(httpworker) link; /* server.c's: all */
};

/* The hooks and the queue, which gets the worker when it has work, stay the caller's. NULL with a
 * sentence in err. */
struct httpworker *httpworker_create(uv_loop_t *loop, bool tls, unsigned capacity,
                                     const struct server_hooks *hooks, struct workerqueue *queue,
                                     struct error *err);

/* Closes its connections; none may be suspended. Freed when the loop has closed its handle. */
void httpworker_destroy(struct httpworker *worker);

/* Queues the worker when its descriptor is readable. As at first, and after uv_poll_stop. */
void httpworker_watch(struct httpworker *worker);

/* Takes over fd, also when it fails. */
void httpworker_add_connection(struct httpworker *worker, int fd, const struct sockaddr *address,
                               socklen_t length);

/* Lets MHD run. Not from one of its own hooks. */
enum httpworker_result {
    WORKER_QUIET,      /* nothing more to do until its descriptor says so */
    WORKER_BUSY,       /* more to do */
    WORKER_NO_PROGRESS /* MHD claims again and again that there is more to do, and does nothing */
};
enum httpworker_result httpworker_run(struct httpworker *worker);

/* Lets a suspended connection go on, with the next httpworker_run. */
void httpworker_resume(struct httpworker *worker, struct MHD_Connection *connection);

/* ---- the queue ---- */

void workerqueue_init(struct workerqueue *queue);

/* A worker without work is this user's, or shared, from now on. */
void workerqueue_assign(struct workerqueue *queue, struct httpworker *worker, uint64_t user);

/* The worker has work. Nothing when that is known. */
void workerqueue_add(struct workerqueue *queue, struct httpworker *worker);

/* The next shared one, or the next user's; NULL: none has work. */
struct httpworker *workerqueue_take_shared(struct workerqueue *queue);
struct httpworker *workerqueue_take_user(struct workerqueue *queue);

/* ---- libmicrohttpd ---- */

/* Which libmicrohttpd the program runs with. The dynamic linker takes 0.9.75 and 1.0 for the same
 * library, so the version counts that is there when the program runs, not when it is built. */

/* Since 1.0, libmicrohttpd itself refuses heads with a bare LF or CR, a NUL, a folded line or a
 * space in the wrong place, when it is told to be strict (MHD_OPTION_STRICT_FOR_CLIENT). */
bool mhd_checks_lines(const char *version);

/* Whether the tests of the HTTP interface were not run with this version; then line says so. */
bool mhd_remark(const char *version, char *line, size_t size);
