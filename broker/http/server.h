#ifndef MCAST_BROKER_HTTP_SERVER_H
#define MCAST_BROKER_HTTP_SERVER_H

#include "broker/turn.h"
#include "core/error.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/* libmicrohttpd on the broker's loop: one daemon for one listening socket, without threads.
 *
 * What has to be known about 0.9.75: its epoll descriptor is polled; after every MHD_run it may
 * have more to do although the descriptor is quiet (pipelined requests), which only MHD_get_timeout
 * tells; a connection that waits for us is suspended, gets its response queued while suspended,
 * and goes on in the MHD_run after its resume; all must be resumed before MHD_stop_daemon. */

/* What MHD calls, each with the same arg. See microhttpd.h for their meaning. has_room is asked
 * before a connection is accepted, and NULL is yes: while it says no, those who come wait in the
 * kernel's line, and it is asked again whenever something has happened, or a second later. */
struct server_hooks {
    void *arg;
    bool (*has_room)(void *arg);
    MHD_AccessHandlerCallback access;
    void *(*target)(void *arg, const char *uri, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
    struct turn *turn; /* where the time goes that MHD takes; or NULL */
};

enum {
    SERVER_IDLE_SECONDS = 120,   /* a connection that says nothing is closed */
    SERVER_STRANGER_SECONDS = 10 /* the same of one that has proved nothing: also a handshake's end,
                                    for within it nothing counts as said */
};

struct server;

/* Takes over fd, also when it fails. tls: connections are encrypted; the connection hook has to
 * dress their sessions (tls.h), or no handshake succeeds. connections: limit above which nothing is
 * accepted. */
struct server *server_create(uv_loop_t *loop, int fd, bool tls, unsigned connections,
                             const struct server_hooks *hooks, struct error *err);

/* Lets a suspended connection go on, with the next server_turn. */
void server_resume(struct server *server, struct MHD_Connection *connection);

/* For a response's reader, which the server does not see called: MHD does not run for nothing. */
void server_stir(struct server *server);

/* Lets MHD run if something was resumed since it last did. Inside of one of its own hooks: later.
 */
void server_turn(struct server *server);

/* Connections that wait in the kernel's line to be let in; 0 also where it does not tell (Unix
 * sockets). */
unsigned server_waiting(const struct server *server);

/* Accepts no more; the socket is closed. Connections go on. */
void server_quiesce(struct server *server);

/* Closes all connections; none may be suspended. closed is called from the loop when nothing is
 * left there and the server is freed. */
void server_destroy(struct server *server, void (*closed)(void *arg), void *arg);

#endif
