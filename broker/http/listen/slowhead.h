/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_LISTEN_SLOWHEAD_H
#define MCAST_BROKER_HTTP_LISTEN_SLOWHEAD_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

/* Requests whose head is begun and does not end: each has SLOWHEAD_MS from its first byte, however
 * its bytes trickle in (B8).
 *
 * libmicrohttpd tells of a request when its head is whole, and takes each byte for a sign of life.
 * So connections that are between two requests are watched here, too, by an epoll of our own: once,
 * for the first byte that comes; it is looked at before libmicrohttpd reads. That costs a
 * connection nothing while its requests follow each other: it is watched when it has been quiet for
 * a while. Bytes that come before that, behind an answer, are noticed with the next ones; until
 * then it is as one that says nothing. */

enum { SLOWHEAD_MS = 10000, SLOWHEAD_QUIET_MS = 1000 };

enum slowhead_state {
    SLOWHEAD_WHOLE,   /* a request is here, or nothing is expected yet */
    SLOWHEAD_QUIET,   /* its last request is over */
    SLOWHEAD_WATCHED, /* for a first byte */
    SLOWHEAD_BEGUN
};

/* Of one connection; all zero, but for its owner. */
struct slowhead {
    void *owner;
    TAILQ_ENTRY(slowhead) link; /* QUIET or BEGUN: the others */
    enum slowhead_state state;
    int fd;
    bool known; /* to the epoll */
    uint64_t since_ms;
};

struct slowheads;

/* late is called from the loop, with arg, for each whose time is over; it is forgotten then. NULL
 * with a sentence in err. */
struct slowheads *slowheads_create(uv_loop_t *loop, void (*late)(void *arg, struct slowhead *head),
                                   void *arg, struct error *err);
/* None may be left in it. closed is called from the loop when nothing is left there. */
void slowheads_destroy(struct slowheads *heads, void (*closed)(void *arg), void *arg);

/* Whether there are first bytes somewhere: before each room's turn. */
void slowheads_check(struct slowheads *heads);

/* A request may come on fd now: it is new, or its handshake is over. */
void slowhead_expect(struct slowheads *heads, struct slowhead *head, int fd);
/* The request's head is whole. */
void slowhead_whole(struct slowheads *heads, struct slowhead *head);
/* The request is over; another may come. */
void slowhead_over(struct slowheads *heads, struct slowhead *head);
/* No further one comes; before fd is closed. */
void slowhead_forget(struct slowheads *heads, struct slowhead *head);

#endif
