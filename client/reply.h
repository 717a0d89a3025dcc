#ifndef MCAST_CLIENT_REPLY_H
#define MCAST_CLIENT_REPLY_H

/* Reads one answer of HTTP/1.1 (RFC 9112) out of the bytes of a connection, in whatever pieces they
 * come, into the flight that waits for it. What came before the answer (1xx) is passed over. */

#include "client/flight.h"

#include <http_parser.h>

enum {
    REPLY_NAME_SIZE = 24,   /* of a header; a longer one is none of ours */
    REPLY_VALUE_SIZE = 128, /* what is longer is cut off: no such value means anything to us */
};

enum reply_state {
    REPLY_MORE,  /* is to come */
    REPLY_WHOLE, /* and nothing of it is read any more */
    REPLY_OVER,  /* it is no answer, or the flight wants no more of it; the flight knows why */
};

struct reply {
    /* all of it reply.c's own */
    http_parser parser;
    struct flight *flight;
    enum reply_state state;
    bool begun;  /* a byte has come */
    bool kept;   /* the connection is good for another request */
    bool body;   /* the headers are over */
    bool valued; /* the last that came of them was a value */
    char name[REPLY_NAME_SIZE], value[REPLY_VALUE_SIZE];
    size_t name_length, value_length; /* the name's may be beyond its room */
};

/* The reply must stay where it is. */
void reply_begin(struct reply *reply, struct flight *flight);

/* Some bytes, at least one. They may be freed afterwards. */
enum reply_state reply_feed(struct reply *reply, const char *bytes, size_t length);

/* There are no more: the connection was closed, or broke with these words. Not REPLY_MORE. */
enum reply_state reply_end(struct reply *reply, const char *words);

/* Whether a byte has come: before, it may be that the request was never read. */
bool reply_begun(const struct reply *reply);

/* Of a whole one: whether the connection is good for another request. */
bool reply_keeps(const struct reply *reply);

#endif
