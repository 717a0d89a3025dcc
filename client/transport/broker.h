/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Carries the requests of one handle to their ends: as many at once as it has connections, the
 * others after them; a single one while no broker can be reached, so that a thousand do not all
 * try. Of several brokers it follows the one that leads (B7). Each request is answered exactly
 * once. All of it is behind one descriptor, an epoll set of sockets and a timer, which is readable
 * when there is something to do. Nothing here waits: the form that does (handle.h) polls the
 * descriptor. */

#include "client/transport/request.h"

#include <sys/epoll.h>

/* ---- when a broker that said "not now" (mcast_later) is asked again: later.c ---- */

/* After a little at first, then longer, and never after exactly as long as others, so that those
 * who were put off together do not come back together. */
struct later {
    unsigned last_ms; /* 0: the next pause is the first */
    unsigned random;  /* 0: none yet */
};

/* What stands before a broker that is restarted may say "in an hour" (Retry-After), and it is back
 * in seconds: it is not left alone for longer than this. */
enum { LATER_AFTER_MAX_MS = 60000 };
unsigned later_after(unsigned after_ms);

/* A pause in milliseconds: from 50 to 1,000 on top of after_ms, which is what the broker asked for,
 * as far as that is heeded. */
unsigned later_pause(struct later *later, unsigned after_ms);

/* Monotonic clock, in milliseconds. */
int64_t later_now_ms(void);

/* ---- transports: unix.c, with HTTP of its own; curl.c over TCP, with libcurl ---- */

enum transport_start {
    TRANSPORT_STARTED,    /* it may have ended already */
    TRANSPORT_QUEUE_FULL, /* the broker accepts no more connections at the moment */
    TRANSPORT_NO_MEMORY,
};

enum {
    TRANSPORT_LOCAL,  /* unix.c; its tags are even */
    TRANSPORT_REMOTE, /* curl.c; odd */
    TRANSPORT_KINDS,
    TRANSPORT_TIME = 0, /* is no tag of theirs */
};

struct transport;
struct transports {
    struct transport *of[TRANSPORT_KINDS]; /* NULL: not needed so far */
    int epoll;                             /* the broker's */
    unsigned connected;                    /* counts up when there is a connection for a request */
    unsigned ended;                        /* requests in that state */
};

/* Never waits, and keeps connections for later requests. */
struct transport_kind {
    void (*destroy)(struct transport *transport); /* no request is in flight any more */
    enum transport_start (*start)(struct transport *transport, struct request *request);
    /* Gives up one that was started and has not ended. */
    void (*abandon)(struct transport *transport, struct request *request);
    /* There are events that transport_watch asked for, or (TRANSPORT_TIME) it is due_ms. */
    void (*serve)(struct transport *transport, uint64_t tag, uint32_t events);
};

struct transport {
    const struct transport_kind *kind;
    struct transports *all;
    int64_t due_ms; /* when kind->serve is due, in later_now_ms; INT64_MAX: never */
};

/* MCAST_NOMEM; MCAST_UNREACHABLE: libcurl is not there. */
int unix_create(struct transport **out, struct transports *all, struct mcast_error *error);
int curl_create(struct transport **out, struct transports *all, struct mcast_error *error);

/* For the two: */

void transport_init(struct transport *transport, const struct transport_kind *kind,
                    struct transports *all);

/* Has `serve` called with the tag when there are such events of the descriptor, as they are last
 * named. False: the set is full. */
bool transport_watch(const struct transport *transport, int fd, uint64_t tag, uint32_t events);
void transport_unwatch(const struct transport *transport, int fd);

/* There is a connection, and the request is being sent. */
void transport_connected(struct transport *transport, struct request *request);

/* The request is not in flight any more, and how it ended is in it. */
void transport_end(struct transport *transport, struct request *request);

/* ---- the broker, or the brokers ---- */

enum {
    /* One of several that opens no connection, or opens one and says nothing, is given up after
     * this, or after its part of the request's time if that is less; and when no other could serve
     * the request, after that. */
    SHORT_CONNECT_MS = 300,
    SHORT_ANSWER_MS = 10000,
    LONG_CONNECT_MS = 1500,
    ROUND_PAUSE_MS = 200, /* the longest before all are asked again: a new leader is soon found */
    /* Nor is a stream of events awaited that says nothing, not even that it lives (each 15 s). */
    SILENCE_MS = 45000,
    CAUSE_SIZE = 160,
};

struct broker {
    /* to be filled before the first request */
    struct peer peer;
    unsigned connections; /* at most, from 1 */
    bool limits_attempts; /* a request's limit is that of each attempt, else of all together */
    const char *unproved; /* what to add where requests that prove nothing are refused, or NULL */
    /* broker.c's own */
    struct transports transports;
    int timer;
    int64_t armed_ms;                            /* what the timer is set to; INT64_MAX: nothing */
    int64_t due_ms;                              /* no request is due before */
    TAILQ_HEAD(request_queue, request) requests; /* in the order in which they were begun */
    unsigned count;
    unsigned sent, width; /* of those that are not waiting: how many there are, and may be */
    unsigned connected;   /* the transport's, at the last look */
    uint64_t last_number;
    int64_t resume_ms; /* nothing is sent before */
    struct later later;
    struct mcast_error refusal; /* the last "not now"; code 0: it has been there since */
    char causes[ENDPOINTS_MAX][CAUSE_SIZE]; /* why each of several was not the one, the last time */
    bool ending;                            /* takes nothing more */
};

/* ---- which of several brokers is asked: round.c ---- */

/* Sets request->endpoint to one that the request has not asked in this round, the one that led if
 * that is among them; and how long it is waited for. */
void round_choose(struct broker *broker, struct request *request, int64_t now);

/* The request was answered: unless the answer is of the kind below, by the one that leads. */
void round_found(struct broker *broker, const struct request *request);

/* Whether the error says nothing of what was asked but that this broker is not to be asked: it does
 * not lead, soon will not, or cannot be reached or believed. */
bool round_is_elsewhere(const struct mcast_error *error);

/* After such an error: whether there is another to be asked at once. If not, the round is over, and
 * the request's error says what each did. */
bool round_goes_on(struct broker *broker, struct request *request, int64_t now);

/* ---- all of it: broker.c ---- */

/* peer.endpoints must be set. MCAST_NOMEM; MCAST_UNREACHABLE: what the transport to the first needs
 * is not there. */
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
