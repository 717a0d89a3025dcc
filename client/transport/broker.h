/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLIENT_TRANSPORT_BROKER_H
#define MCAST_CLIENT_TRANSPORT_BROKER_H

/* Carries the requests of one handle to their ends: as many at once as it has connections, the
 * others after them; a single one while the broker cannot be reached, so that a thousand do not all
 * try. Each is answered exactly once. All of it is behind one descriptor, an epoll set of sockets
 * and a timer, which is readable when there is something to do. Nothing here waits: the form that
 * does (handle.h) polls the descriptor. */

#include "client/transport/later.h"
#include "client/transport/transport.h"

struct broker {
    /* to be filled before the first request */
    struct peer peer;
    unsigned connections; /* at most, from 1 */
    bool limits_attempts; /* a request's limit is that of each attempt, else of all together */
    const char *unproved; /* what to add where requests that prove nothing are refused, or NULL */
    /* broker.c's own */
    struct transport *transport;
    int epoll, timer;
    int64_t armed_ms; /* what the timer is set to; INT64_MAX: nothing */
    int64_t due_ms;   /* no request is due before */
    struct requests waiting, in_flight;
    unsigned count;       /* of all */
    unsigned sent, width; /* of those in flight: how many there are, and may be */
    unsigned connected;   /* the transport's, at the last look */
    uint64_t last_number;
    int64_t resume_ms; /* nothing is sent before */
    struct later later;
    struct mcast_error refusal; /* the last "not now"; code 0: it has been there since */
    bool ending;                /* takes nothing more */
};

/* peer.endpoint must be set. MCAST_NOMEM; MCAST_UNREACHABLE: what the transport to it needs is not
 * there. */
int broker_init(struct broker *broker, struct mcast_error *error);
/* Also after a broker_init that failed. Answers all that is left with MCAST_STOPPED. */
void broker_release(struct broker *broker);

int broker_fd(const struct broker *broker);

/* The request must stay where it is until it is done. Sends nothing, and answers nothing, before
 * broker_turn. MCAST_STOPPED: the broker is being released; then it is not begun. */
int broker_begin(struct broker *broker, struct request *request, struct mcast_error *error);

/* Does what can be done now, and gives the answers that have come; stops early when ending is set
 * meanwhile. */
void broker_turn(struct broker *broker);

/* NULL: it is over. */
struct request *broker_find(const struct broker *broker, uint64_t number);

/* Answers a request that is not over with MCAST_STOPPED, now. */
void broker_cancel(struct broker *broker, struct request *request);

#endif
