/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* One request in flight: with what headers it is sent, what comes back, and what came of it. It
 * knows neither its transport nor when it is sent and repeated (broker.h). */

#include "client/calls/call.h"
#include "client/transport/peer.h"

#include <sys/queue.h>

/* ---- a request that got no answer: trouble.c ---- */

enum { TROUBLE_WORDS_SIZE = 256 };

enum trouble_kind {
    TROUBLE_NONE, /* the answer is whole */
    TROUBLE_NOMEM,
    TROUBLE_ABSENT,    /* no connection could be made */
    TROUBLE_UNTRUSTED, /* who serves the Unix socket may not be the broker; nothing was sent */
    TROUBLE_NO_HOST,   /* the host's name cannot be resolved */
    TROUBLE_LATE,      /* there was one, and the time is over */
    TROUBLE_SILENT,    /* it ended without a byte of an answer */
    TROUBLE_BROKEN,    /* it ended within the answer, or the request */
    TROUBLE_DISTRUST,  /* the server's certificate is not good */
    TROUBLE_HANDSHAKE, /* no TLS connection came about */
    TROUBLE_CA_FILE,   /* what to trust cannot be read */
    TROUBLE_OWN_FILES, /* nor the client certificate or its key */
    TROUBLE_GARBLED,   /* no HTTP, or more of it than is taken */
};

struct trouble {
    enum trouble_kind kind;
    int os_error;                   /* errno of the connection that was not made; 0: unknown */
    char words[TROUBLE_WORDS_SIZE]; /* what the transport says of it */
};

struct request;

/* A code, a word, and a sentence with cause and next step, in request->error; returns the code.
 * What is to be set is called as all programs call it: cacert is mcastctl's --cacert, node.conf's
 * key, and mcast_set_cacert. */
int trouble_explain(struct request *request);

/* The cause alone, in a few words. */
const char *trouble_cause(const struct trouble *trouble);

/* Whether an established connection broke, rather than that none could be made. */
bool trouble_broken(const struct trouble *trouble);

/* ---- */

enum {
    REQUEST_TIMEOUT_MS = 30000,    /* for one answer, unless something else is set */
    REQUEST_CONNECT_MS = 5000,     /* of these, until a connection is open, to the only broker */
    REQUEST_ANSWER_MAX = 64 << 20, /* bytes of one answer */
};

enum request_state { REQUEST_WAITING, REQUEST_IN_FLIGHT, REQUEST_ENDED };

typedef void request_fn(struct request *request);

/* Of several brokers each is asked once before there is a pause (endpoints_next), and for a short
 * time only as long as others have not been asked: one that is given up for that reason is asked
 * once more after them, for longer. */
struct round {
    unsigned asked;  /* a bit for each: not to be asked (again) */
    unsigned cut;    /* of these, were given up early */
    unsigned failed; /* of all that were asked */
    bool again;      /* those are being asked once more */
    bool later;      /* what one of them said, or did not, may be otherwise soon (mcast_later) */
};

struct request {
    /* to be set before broker_begin */
    struct call call;       /* released by who made it */
    request_fn *done;       /* called once, and the request is not used any more */
    request_fn *on_retry;   /* called before the first pause, with error set; NULL: not wanted */
    int64_t limit_ms;       /* how long it may take; 0: without a limit */
    int64_t retry_until_ms; /* (later_now_ms) a broker that says "not now" is asked again */
    /* what came of it; the document is to be taken or freed */
    int rc; /* 0; a code, with the error; what call.each returned */
    struct mcast_error error;
    void *document; /* what call.read made; NULL after a failure */
    /* for the transport */
    struct peer *peer;
    const struct endpoint *endpoint; /* of the peer's: who is asked */
    int64_t connect_ms;              /* until a connection is open */
    size_t head_size;
    char *head;             /* lines "Name: value" and CRLF to be sent; a token may be among them */
    bool fresh;             /* over a new connection */
    bool connected;         /* there was one to send it over, or at least it was open */
    bool unread;            /* its connection was closed before the broker can have read it */
    struct trouble trouble; /* how it ended */
    void *connection;       /* the transport's, or NULL */
    /* broker.c's own */
    TAILQ_ENTRY(request) link;
    enum request_state state;
    uint64_t number;
    int64_t deadline_ms, connect_by_ms;
    int64_t
        give_up_ms; /* when another broker is asked instead; INT64_MAX: not before deadline_ms */
    struct round round;
    bool retried;
    int attempts; /* that ended because the connection broke, or the credential was stale */
    /* request.c's own */
    struct answer answer;
    bool streamed; /* call.each has had something */
    bool heard;    /* something has come since broker.c has looked */
    int64_t sent_ms;
    int ended;    /* what call.each returned, once that was not 0 */
    int given_up; /* a code: why no more of the body is wanted */
};

/* Makes it ready for the next attempt, with a head of its own, because a MUNGE credential is good
 * for one. Sets request->error: MCAST_USAGE: a file of the credentials cannot be used; MCAST_NOMEM;
 * MCAST_UNREACHABLE: there is no credential. */
int request_prepare(struct request *request);

/* ---- called by the transport, in this order ---- */

/* One header of the answer; what stands behind the first 255 bytes of its line does not matter.
 * Those of interim answers (1xx) are none. */
void request_take_header(struct request *request, const char *name, const char *value);

/* A piece of the body. False: no more of it is wanted, and the request has to end. */
bool request_take_body(struct request *request, int status, const char *bytes, size_t length);

/* How it ended, with the transport's own words. */
void request_set_trouble(struct request *request, enum trouble_kind kind, const char *words);

/* ---- */

/* What came of it: 0 with an answer of any status, what call.each returned, or a code, with
 * request->error. Wipes the head. */
int request_conclude(struct request *request);

/* Whether the broker has seen the credential before, or it lay in a queue for too long: libcurl
 * repeats a request by itself when a kept connection turns out to be dead, and the broker may have
 * read it all the same. A new one shows which. */
bool request_stale(const struct request *request);

/* Wipes and frees all but the call. */
void request_release(struct request *request);

/* The time in a Date header: "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7, the one form that
 * may still be sent), in seconds since 1970. False: the text is no such date. What stands behind it
 * does not matter. */
bool request_read_date(const char *text, int64_t *seconds);
