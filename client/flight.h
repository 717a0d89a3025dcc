#ifndef MCAST_CLIENT_FLIGHT_H
#define MCAST_CLIENT_FLIGHT_H

/* One request on its way: what curl is told to send, what comes back, and what came of it. It knows
 * no loop: transport.h waits for its end, async.h does not. */

#include "client/endpoint.h"
#include "client/headers.h"

#include <curl/curl.h>

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
    CURL *easy; /* the caller's, used for nothing else meanwhile */
    const struct call *call;
    struct answer *answer;
    call_piece_fn *each; /* pieces of a 200 of the accepted type; NULL: all into the answer */
    void *data;
    long limit_ms;     /* how long it may take; 0: without a limit */
    bool fresh;        /* over a new connection */
    unsigned *reached; /* counts up when there is a connection to send it over; or NULL */
    /* flight.c's own */
    struct curl_slist *headers;
    char words[CURL_ERROR_SIZE];
    int64_t sent_ms;
    int ended; /* what `each` returned, once that was not 0 */
    int rc;    /* why the body was given up, 0 while it was not */
};

/* Makes curl ready for the process, once; false: it cannot be used. */
bool flight_ready(void);

/* Writes the whole URL of a call. False: memory is exhausted. */
bool flight_url(struct text *url, const struct flight_peer *peer, const struct call *call);

/* Tells flight->easy all about the request, with headers of its own, because a MUNGE credential is
 * good for one. The flight, and the url, must stay where they are until flight_release.
 * MCAST_USAGE: a file of the credentials will not do. MCAST_NOMEM; MCAST_UNREACHABLE: no credential
 * is to be had. */
int flight_prepare(struct flight *flight, const char *url, struct mcast_error *error);

/* What came of it, when curl is done with it: 0 with an answer of any status, what `each` returned,
 * or a code. */
int flight_conclude(struct flight *flight, CURLcode result, struct mcast_error *error);

/* Wipes the headers. After it may follow the next attempt, with flight_prepare. */
void flight_release(struct flight *flight);

/* Whether the broker has seen the credential before, or it lay in a queue for too long: curl
 * repeats a request by itself when a kept connection turns out to be dead, and the broker may have
 * read it all the same. A new one tells which. */
bool flight_stale(const struct answer *answer);

#endif
