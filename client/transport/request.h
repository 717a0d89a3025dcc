/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLIENT_TRANSPORT_REQUEST_H
#define MCAST_CLIENT_TRANSPORT_REQUEST_H

/* One request in flight: with what headers it is sent, what comes back, and what came of it. It
 * knows neither what carries it (transport.h) nor when it is sent and repeated (broker.h). */

#include "client/calls/call.h"
#include "client/transport/trouble.h"

#include <sys/queue.h>

enum {
    REQUEST_TIMEOUT_MS = 30000,    /* for one answer, unless something else is set */
    REQUEST_CONNECT_MS = 5000,     /* of these, for a connection */
    REQUEST_ANSWER_MAX = 64 << 20, /* bytes of one answer */
    REQUEST_HEADERS_MAX = 5,
};

/* Lines "Name: value", each in memory of its own, so that none is copied unwiped when there are
 * more of them: a token may be among them. */
struct headers {
    char *line[REQUEST_HEADERS_MAX];
    size_t count;
};

struct request;
TAILQ_HEAD(requests, request);

/* rc: 0, then the result is to be taken or released, as the answer was read into it; else a code,
 * with the error, or what call.each returned. The request is not used any more. */
typedef void request_done_fn(struct request *request, int rc, const struct mcast_error *error,
                             struct result *result);

typedef void request_retry_fn(struct request *request, const struct mcast_error *why);

struct request {
    /* to be set before broker_begin */
    struct call call;           /* released by who made it */
    request_done_fn *done;      /* called once */
    int64_t limit_ms;           /* how long it may take; 0: without a limit */
    int64_t retry_until_ms;     /* (later_now_ms) a broker that says "not now" is asked again */
    request_retry_fn *on_retry; /* called before the first pause; NULL: not wanted */
    /* for the transport */
    struct peer *peer;
    struct headers headers; /* to be sent */
    bool fresh;             /* over a new connection */
    bool connected;         /* there was one to send it over */
    bool unread;            /* its connection was closed before the broker can have read it */
    struct trouble trouble; /* how it ended */
    void *connection;       /* what carries it, or NULL */
    /* broker.c's own */
    TAILQ_ENTRY(request) link;
    struct requests *list; /* that it is in */
    uint64_t number;
    int64_t deadline_ms, connect_by_ms;
    bool retried;
    int attempts; /* that ended because the connection broke, or the credential was stale */
    /* request.c's own */
    struct answer answer;
    bool streamed; /* call.each has had something */
    int64_t sent_ms;
    int ended; /* what call.each returned, once that was not 0 */
    int rc;    /* why the body was given up, 0 while it was not */
};

/* Makes it ready for the next attempt, with headers of its own, because a MUNGE credential is good
 * for one. error is not NULL, and means nothing after 0. MCAST_USAGE: a file of the credentials
 * cannot be used. MCAST_NOMEM; MCAST_UNREACHABLE: there is no credential. */
int request_prepare(struct request *request, struct mcast_error *error);

/* ---- what the transport tells, in this order ---- */

/* One header of the answer, name and value; nothing need stand behind them. Those of interim
 * answers (1xx) are none. */
void request_take_header(struct request *request, const char *name, size_t name_length,
                         const char *value, size_t value_length);

/* A piece of the body. False: no more of it is wanted, and the request has to end. */
bool request_take_body(struct request *request, int status, const char *bytes, size_t length);

/* How it ended, with the transport's own words. */
void request_set_trouble(struct request *request, enum trouble_kind kind, const char *words);

/* ---- */

/* What came of it: 0 with an answer of any status, what call.each returned, or a code. Wipes the
 * headers. */
int request_conclude(struct request *request, struct mcast_error *error);

/* Whether the broker has seen the credential before, or it lay in a queue for too long: libcurl
 * repeats a request by itself when a kept connection turns out to be dead, and the broker may have
 * read it all the same. A new one tells which. */
bool request_stale(const struct request *request);

/* Wipes and frees all but the call. */
void request_release(struct request *request);

/* The time in a Date header: "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7, the one form that
 * may still be sent), in seconds since 1970. False: the text is no such date. What stands behind it
 * does not matter. */
bool request_read_date(const char *text, size_t length, int64_t *seconds);

#endif
