/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/listen/httpworker.h"
#include "broker/turn.h"

/* HTTP at one listening socket, on the broker's loop: accepts connections, as many workers as they
 * need serve them, and each worker has its turn for as long as the rest of the loop can wait. */

struct server_hooks {
    void *arg; /* of all of these */
    /* Called by MHD; microhttpd.h has their meaning. */
    MHD_AccessHandlerCallback access;
    void *(*target)(void *arg, const char *uri, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback completed;
    void (*connection)(void *arg, struct httpworker *worker, struct MHD_Connection *connection,
                       void **context, enum MHD_ConnectionNotificationCode code);
    /* Before a connection is served; NULL: yes. connections: that are open here, also those that
     * are refused, or closed, and that MHD has not freed yet. While it says no, clients wait: with
     * TLS accepted (arrivals.h), else in the kernel's listen queue; it is asked again whenever
     * something has happened, or a second later. */
    bool (*may_accept)(void *arg, unsigned connections);
    /* Of one that is accepted: its user, whose connections have workers of their own, or
     * WORKERQUEUE_SHARED; NULL: all are shared. */
    uint64_t (*user)(void *arg, int fd);
    unsigned arrivals_max;         /* that wait for their handshake */
    bool (*before_run)(void *arg); /* of a worker; false: nothing is read or sent; or NULL */
    struct turn *turn;             /* where the time goes that MHD takes */
    uint64_t *spent_ns;            /* in this turn of the loop, by all servers that share it */
};

struct server;

/* Takes over fd, also when it fails. tls: connections are encrypted; the connection hook has to set
 * up their sessions (tls.h), or no handshake succeeds. */
struct server *server_create(uv_loop_t *loop, int fd, bool tls, const struct server_hooks *hooks,
                             struct error *err);

/* Connections that wait: accepted, or in the kernel's listen queue, where it tells (not of Unix
 * sockets). */
unsigned server_waiting(const struct server *server);

/* The socket is closed; who was accepted is served. */
void server_stop_accepting(struct server *server);

/* As that, and those that wait for their handshake are closed. Other connections go on. */
void server_quiesce(struct server *server);

/* Closes all connections; none may be suspended. closed is called from the loop when nothing is
 * left there and the server is freed. */
void server_destroy(struct server *server, void (*closed)(void *arg), void *arg);
