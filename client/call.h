#ifndef MCAST_CLIENT_CALL_H
#define MCAST_CLIENT_CALL_H

/* One request to the broker, and its answer. */

#include "client/text.h"
#include "base/secret.h"

#include <stdint.h>

enum {
    CALL_TIMEOUT_MS = 30000,    /* for one answer, unless something else is set */
    CALL_CONNECT_MS = 5000,     /* of these, for a connection */
    CALL_ANSWER_MAX = 64 << 20, /* bytes of one answer */
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
    char type[64];        /* media type without parameters, lower case */
    unsigned retry_after; /* s; 0: not told */
    struct text body;
};

/* Receives pieces of a 200 answer as they come. Non-zero ends the stream. */
typedef int call_piece_fn(const char *bytes, size_t length, void *data);

#endif
