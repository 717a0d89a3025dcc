#ifndef MCAST_CLIENT_CARRIER_H
#define MCAST_CLIENT_CARRIER_H

/* Carries the requests of one asynchronous handle to their ends: so many at once as it has
 * connections, the others after them; one alone while the broker cannot be reached, so that a
 * thousand do not knock at a closed door. Each is answered exactly once. */

#include "client/alarms.h"
#include "client/asks.h"
#include "client/errand.h"
#include "client/flight.h"
#include "client/pauses.h"
#include "client/reactor.h"

struct carrier {
    struct flight_peer peer; /* to be filled before the first request */
    struct secret token;     /* for errands that are borne; none: not needed yet */
    unsigned timeout_ms;     /* for a request, from carrier_take to its answer */
    unsigned connections;    /* at most, from 1 */
    bool patient;            /* who says "not now" is asked again until the time is over */
    /* carrier.c's own */
    struct reactor *reactor;
    struct asks asks;
    struct alarms alarms;      /* when those that wait for a connection have waited too long */
    struct ask *first, *last;  /* of these, in their order */
    unsigned under_way, width; /* how many have a connection, and may */
    unsigned reached, reached_known; /* how often there was one, and at the last look */
    int64_t resume_ms;               /* nothing is sent before */
    struct pauses pauses;
    struct mcast_error refusal; /* the last "not now" of the broker, or of the way to it; code 0: it
                                   has been there since */
    bool ending;                /* takes nothing more */
};

/* MCAST_NOMEM; MCAST_UNREACHABLE: what the way to this peer needs is not there. */
int carrier_init(struct carrier *carrier, struct mcast_error *error);
/* Answers all that is left with MCAST_STOPPED. */
void carrier_release(struct carrier *carrier);

/* Takes the errand over, whatever is returned. *number (NULL: not wanted) is for carrier_cancel.
 * MCAST_NOMEM, MCAST_STOPPED. Sends nothing, and answers nothing, before carrier_turn. */
int carrier_take(struct carrier *carrier, struct errand *errand, mcast_done_fn *done, void *arg,
                 uint64_t *number, struct mcast_error *error);

/* Does what can be done now, and gives the answers that have come; stops early when ending is set
 * meanwhile. */
void carrier_turn(struct carrier *carrier);

/* Answers a request with MCAST_STOPPED, now. False: it has been answered. */
bool carrier_cancel(struct carrier *carrier, uint64_t number);

#endif
