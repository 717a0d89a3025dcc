/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_LISTEN_SERVER_H
#define MCAST_BROKER_HTTP_LISTEN_SERVER_H

#include "broker/http/listen/roomqueue.h"
#include "broker/turn.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/* HTTP at one listening socket, on the broker's loop: lets connections in, to as many rooms as they
 * need, and lets each room have its turn for as long as the rest of the loop can wait. */

/* has_room is asked, with the room hooks' arg, before a connection is accepted, and NULL is yes:
 * while it says no, those who come wait in the kernel's listen queue, and it is asked again
 * whenever something has happened, or a second later. user is asked, with the same arg, when one is
 * accepted: a user's connections have rooms and turns of their own (roomqueue.h). */
struct server_hooks {
    struct room_hooks room;
    bool (*has_room)(void *arg);
    uint64_t (*user)(void *arg, int fd); /* see below; NULL: nobody's own */
    void (*look)(void *arg);             /* called before a room has its turn; or NULL */
    struct turn *turn;                   /* where the time goes that MHD takes; or NULL */
    uint64_t *spent_ns; /* of this turn of the loop, by all servers that share it; or NULL */
};

struct server;

/* Takes over fd, also when it fails. tls: connections are encrypted; the connection hook has to
 * dress their sessions (tls.h), or no handshake succeeds. connections: limit above which nothing is
 * accepted. */
struct server *server_create(uv_loop_t *loop, int fd, bool tls, unsigned connections,
                             const struct server_hooks *hooks, struct error *err);

/* Lets those rooms run that have work, for a while. Inside of one of their own hooks: later. */
void server_turn(struct server *server);

/* Connections that wait in the kernel's listen queue; 0 also where it does not tell (Unix
 * sockets). */
unsigned server_waiting(const struct server *server);

/* Accepts no more; the socket is closed. Connections go on. */
void server_quiesce(struct server *server);

/* Closes all connections; none may be suspended. closed is called from the loop when nothing is
 * left there and the server is freed. */
void server_destroy(struct server *server, void (*closed)(void *arg), void *arg);

#endif
