/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_LISTEN_ROOM_H
#define MCAST_BROKER_HTTP_LISTEN_ROOM_H

#include "base/error.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <uv.h>

/* A few connections, and the daemon of libmicrohttpd that serves them, without threads.
 *
 * Once asked, MHD does all that any of its connections is ready for: of hundreds, and of a crowd's
 * handshakes above all, that takes long, and nothing tells it to stop. So a server has as many
 * daemons as it needs (server.c), each with no more connections than fit in one turn of the loop.
 *
 * What has to be known about 0.9.75 and 1.0.1: its epoll descriptor is polled; after every MHD_run
 * it may have more to do although the descriptor is quiet (pipelined requests), which only
 * MHD_get_timeout tells; a connection that waits for us is suspended, gets its response queued
 * while suspended, and goes on in the MHD_run after its resume; all must be resumed before
 * MHD_stop_daemon. */

/* A handshake computes for a millisecond or two, a request for a few dozen microseconds; and a room
 * with TLS takes a descriptor and 16 KiB for itself (G11). Of a crowd over TLS one run of a room
 * computed for at most 2.0 ms with two places, 3.5 with four, 8.8 with sixteen, 12.4 with sixty. */
enum {
    ROOM_PLACES = 64,
    ROOM_PLACES_TLS = 2,
    ROOM_PLACES_USER = 4 /* of a user's own: all of them together have one turn */
};

enum {
    ROOM_IDLE_SECONDS = 120, /* an idle connection is closed */
    ROOM_UNAUTHENTICATED_SECONDS =
        12 /* the same of an unauthenticated one, its handshake included. Longer than a head may
              take (slowhead.h), so that a slow one gets its 503 */
};

struct room;

/* What MHD calls, each with the same arg. See microhttpd.h for their meaning. */
struct room_hooks {
    void *arg;
    MHD_AccessHandlerCallback access;
    void *(*target)(void *arg, const char *uri, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback completed;
    void (*connection)(void *arg, struct room *room, struct MHD_Connection *connection,
                       void **context, enum MHD_ConnectionNotificationCode code);
};

/* Who lets it run. */
struct room_owner {
    void *arg;
    void (*has_work)(void *arg, struct room *room); /* there is something to do in it */
    void (*changed)(void *arg, int by);             /* its connections, by 1 or -1 */
};

/* tls: see server.h. places: how many connections it takes. The hooks and the owner stay the
 * caller's. */
struct room *room_create(uv_loop_t *loop, bool tls, unsigned places, const struct room_hooks *hooks,
                         const struct room_owner *owner, struct error *err);

unsigned room_connections(const struct room *room);
bool room_is_full(const struct room *room);

/* Takes over fd, also when it fails. */
void room_let_in(struct room *room, int fd, const struct sockaddr *address, socklen_t length);

/* Lets MHD run. Not from one of its own hooks. */
enum room_rest {
    ROOM_QUIET,   /* nothing more to do until its descriptor says so */
    ROOM_BUSY,    /* more to do */
    ROOM_RESTLESS /* MHD says so again and again, without a callback */
};
enum room_rest room_run(struct room *room);

/* Lets a suspended connection go on, with the next room_run. */
void room_resume(struct room *room, struct MHD_Connection *connection);

/* For a response's reader and a handshake's steps, which are not seen called: MHD does not run for
 * nothing. */
void room_stir(struct room *room);

/* Closes its connections; none may be suspended. closed is called from the loop when nothing is
 * left there and the room is freed. */
void room_destroy(struct room *room, void (*closed)(void *arg), void *arg);

/* The owner's: whose it is (roomqueue.h), and its list of rooms that have work. */
struct roomqueue_user;
struct roomqueue_user *room_user(const struct room *room); /* NULL, until it is set */
void room_set_user(struct room *room, struct roomqueue_user *user);
struct room_list {
    struct room *first, *last;
};
void room_list_add(struct room_list *line, struct room *room); /* nothing when it is in a list */
struct room *room_list_take(struct room_list *line);           /* NULL: it is empty */
bool room_is_listed(const struct room *room);

#endif
