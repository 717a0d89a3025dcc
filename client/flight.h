#ifndef MCAST_CLIENT_FLIGHT_H
#define MCAST_CLIENT_FLIGHT_H

/* One request on its way: with what headers it is sent, what comes back, and what came of it. It
 * knows neither what carries it (way.h) nor a loop: transport.h waits for its end, async.h does
 * not. */

#include "client/endpoint.h"
#include "client/headers.h"
#include "client/trouble.h"

/* What all requests to one broker share. */
struct flight_peer {
    struct endpoint endpoint;
    struct credentials credentials;
    struct headers_note unproved; /* why the last request proved nobody's identity, "" if it did */
    int64_t clock_ahead_ms;       /* by the last answer's Date, if clock_known */
    bool clock_known;
};

struct flight {
    struct flight_peer *peer;
    const struct call *call;
    struct answer *answer;
    call_piece_fn *each; /* pieces of a 200 of the accepted type; NULL: all into the answer */
    void *data;
    int64_t limit_ms;  /* how long it may take; 0: without a limit */
    bool fresh;        /* over a new connection */
    unsigned *reached; /* counts up when there is a connection to send it over; or NULL */
    void *owner;       /* the caller's own */
    /* of the way that carries it */
    struct headers headers;        /* to be sent */
    struct trouble trouble;        /* how it ended */
    bool aloft, landed;            /* it is carried; that is over, and nobody has been told yet */
    void *carried;                 /* by what, while it is */
    struct flight *before, *after; /* of those that have landed */
    /* flight.c's own */
    int64_t sent_ms;
    int ended; /* what `each` returned, once that was not 0 */
    int rc;    /* why the body was given up, 0 while it was not */
};

/* Makes it ready for a way, with headers of its own, because a MUNGE credential is good for one.
 * The flight must stay where it is until flight_release. MCAST_USAGE: a file of the credentials
 * will not do. MCAST_NOMEM; MCAST_UNREACHABLE: no credential is to be had. */
int flight_prepare(struct flight *flight, struct mcast_error *error);

/* ---- what the way tells, in this order ---- */

/* There is a connection, and the request is being sent. */
void flight_reach(struct flight *flight);

/* One header of the answer, name and value; nothing need stand behind them. Those of an answer
 * before the answer (1xx) are none. */
void flight_take_header(struct flight *flight, const char *name, size_t name_length,
                        const char *value, size_t value_length);

/* A piece of the body. False: no more of it is wanted, and the flight has to land. */
bool flight_take_body(struct flight *flight, int status, const char *bytes, size_t length);

/* How it ended, with the way's own words. */
void flight_set_trouble(struct flight *flight, enum trouble_kind kind, const char *words);

/* ---- */

/* What came of it, when it has landed: 0 with an answer of any status, what `each` returned, or a
 * code. */
int flight_conclude(struct flight *flight, struct mcast_error *error);

/* Wipes the headers. After it may follow the next attempt, with flight_prepare. */
void flight_release(struct flight *flight);

/* Whether the broker has seen the credential before, or it lay in a queue for too long: a way
 * repeats a request by itself when a kept connection turns out to be dead, and the broker may have
 * read it all the same. A new one tells which. */
bool flight_stale(const struct answer *answer);

#endif
