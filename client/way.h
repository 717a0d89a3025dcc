#ifndef MCAST_CLIENT_WAY_H
#define MCAST_CLIENT_WAY_H

/* How flights get to a broker and back, without ever waiting: way_unix.c over its Unix socket, with
 * HTTP of its own; way_curl.c over TCP, with libcurl. Each keeps connections for the next flights.
 * reactor.h drives it. */

#include "client/flight.h"

#include <sys/epoll.h>

struct way;

struct way_kind {
    void (*destroy)(struct way *way); /* carries nothing any more */
    /* Takes a flight that is prepared; nothing is sent before way_kind.expire, which is due then.
     * False: memory is exhausted. */
    bool (*add)(struct way *way, struct flight *flight);
    /* Gives up one that has not landed. */
    void (*remove)(struct way *way, struct flight *flight);
    /* What way_watch was told of has come. */
    void (*serve)(struct way *way, uint64_t tag, uint32_t events);
    /* When expire is due, in reactor_now_ms; INT64_MAX: never. To be asked for after each of the
     * others. */
    int64_t (*due_ms)(const struct way *way);
    void (*expire)(struct way *way);
};

struct way {
    const struct way_kind *kind;
    int epoll;                   /* the reactor's */
    struct flight *first, *last; /* that have landed, in their order */
};

/* MCAST_NOMEM; MCAST_UNREACHABLE: libcurl is not there. */
int way_unix_create(struct way **out, int epoll, struct mcast_error *error);
int way_curl_create(struct way **out, int epoll, struct mcast_error *error);

/* ---- for the two ---- */

enum { WAY_TAG_TAKEN = 0 /* the reactor's own */ };

/* Has `serve` called with the tag when there are such events of the descriptor, as they are last
 * named. False: the set has no room. */
bool way_watch(const struct way *way, int fd, uint64_t tag, uint32_t events);
void way_unwatch(const struct way *way, int fd);

/* The flight is not carried any more, and its end is written down in it. */
void way_land(struct way *way, struct flight *flight);

/* ---- for the reactor ---- */

/* The next that has landed, or NULL; one that has, and whose end nobody wants to know. */
struct flight *way_landed(struct way *way);
void way_forget(struct way *way, struct flight *flight);

#endif
