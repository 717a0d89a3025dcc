#ifndef MCAST_CLIENT_TRANSPORT_H
#define MCAST_CLIENT_TRANSPORT_H

/* Carries requests to the broker over one kept connection and brings back the answers. */

#include "client/credentials.h"
#include "client/endpoint.h"
#include "client/text.h"
#include "core/secret.h"

enum {
    TRANSPORT_TIMEOUT_MS = 30000,
    TRANSPORT_CONNECT_MS = 5000,
    TRANSPORT_ANSWER_MAX = 64 << 20, /* bytes of one answer */
};

struct call {
    const char *method;     /* every request of this interface may be repeated without harm */
    const char *path;       /* with the query, escaped */
    const char *body;       /* JSON, or NULL */
    const char *accept;     /* media type; NULL: application/json */
    uint64_t last_event_id; /* header Last-Event-ID, unless 0 */
    struct secret token;    /* says for which job it is, instead of who asks; none: it does not */
    unsigned wait_ms;       /* the answer may take so much longer than others */
};

struct answer {
    int status;
    char type[64]; /* media type without parameters, lower case */
    struct text body;
};

/* Receives pieces of a 200 answer as they come. Non-zero ends the stream. */
typedef int transport_piece_fn(const char *bytes, size_t length, void *data);

struct transport;

int transport_create(struct transport **out, const struct endpoint *endpoint,
                     struct mcast_error *error);
void transport_destroy(struct transport *transport);
void transport_set_timeout(struct transport *transport, unsigned milliseconds);
const char *transport_peer(const struct transport *transport); /* endpoint_name */

/* To be set before the first call. */
struct credentials *transport_credentials(struct transport *transport);

/* Why the last request proved nobody's identity, "" when it did or need not. */
const char *transport_unproved(const struct transport *transport);

/* By the last answer's Date; false: there was none. */
bool transport_clock_ahead(const struct transport *transport, int64_t *ahead_ms);

/* 0 when there is an answer, whatever its status; release it with text_release(&answer->body). A
 * request whose connection broke is sent once more on a new one: the broker may have closed a kept
 * connection, or been restarted. MCAST_UNREACHABLE, _UNCLEAR, _NOMEM, _STOPPED; MCAST_USAGE when
 * called from a callback of the same handle, or when a file of the credentials will not do. */
int transport_call(struct transport *transport, const struct call *call, struct answer *answer,
                   struct mcast_error *error);

/* As transport_call, without repetition and time limit. The body of a 200 of the accepted type
 * (call->accept, not NULL) goes to `each` piece by piece, that of others into *answer. 0: the
 * answer came to its end; else what `each` returned, or a code as above. */
int transport_stream(struct transport *transport, const struct call *call, transport_piece_fn *each,
                     void *data, struct answer *answer, struct mcast_error *error);

/* Waits, but not when stopped. MCAST_OK or MCAST_STOPPED. */
int transport_pause(struct transport *transport, unsigned milliseconds, struct mcast_error *error);

/* Safe in signal handlers. For ever. */
void transport_stop(struct transport *transport);

#endif
