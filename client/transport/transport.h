/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLIENT_TRANSPORT_TRANSPORT_H
#define MCAST_CLIENT_TRANSPORT_TRANSPORT_H

/* How requests get to a broker and answers back, without ever waiting: unix.c over its Unix socket,
 * with HTTP of its own; curl.c over TCP, with libcurl. Each keeps connections for later requests.
 * broker.h drives it. */

#include "client/transport/request.h"

#include <sys/epoll.h>

struct transport;

enum transport_start {
    TRANSPORT_STARTED, /* it may have ended already */
    TRANSPORT_NO_ROOM, /* the broker takes no more connections at the moment */
    TRANSPORT_NO_MEMORY,
};

struct transport_kind {
    void (*destroy)(struct transport *transport); /* carries nothing any more */
    enum transport_start (*start)(struct transport *transport, struct request *request);
    /* Gives up one that was started and has not ended. */
    void (*abandon)(struct transport *transport, struct request *request);
    /* What transport_watch was told of has come, or (TRANSPORT_TIME) due_ms. */
    void (*serve)(struct transport *transport, uint64_t tag, uint32_t events);
};

struct transport {
    const struct transport_kind *kind;
    int epoll;             /* the broker's */
    int64_t due_ms;        /* when kind->serve is due, in later_now_ms; INT64_MAX: never */
    unsigned connected;    /* counts up when there is a connection for a request */
    struct requests ended; /* in their order */
};

/* MCAST_NOMEM; MCAST_UNREACHABLE: libcurl is not there. */
int unix_create(struct transport **out, int epoll, struct mcast_error *error);
int curl_create(struct transport **out, int epoll, struct mcast_error *error);

/* Whether libcurl can be had, and will not wait for the look-up of the endpoint's name:
 * MCAST_UNREACHABLE, MCAST_USAGE. */
int curl_check_async(const struct endpoint *endpoint, struct mcast_error *error);

/* ---- for the two ---- */

enum { TRANSPORT_TIME = 0 /* is no tag of theirs */ };

static inline void transport_init(struct transport *transport, const struct transport_kind *kind,
                                  int epoll)
{
    *transport = (struct transport){.kind = kind, .epoll = epoll, .due_ms = INT64_MAX};
    TAILQ_INIT(&transport->ended);
}

/* Has `serve` called with the tag when there are such events of the descriptor, as they are last
 * named. False: the set has no room. */
bool transport_watch(const struct transport *transport, int fd, uint64_t tag, uint32_t events);
void transport_unwatch(const struct transport *transport, int fd);

/* There is a connection, and the request is being sent. */
void transport_connected(struct transport *transport, struct request *request);

/* The request is not carried any more, and how it ended is in it. */
void transport_end(struct transport *transport, struct request *request);

#endif
