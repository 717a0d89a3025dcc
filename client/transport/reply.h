/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Reads one answer of HTTP/1.1 (RFC 9112) out of the bytes of a connection, in whatever pieces they
 * come, into the request that waits for it. Strict: what mcastd sends is an answer with either one
 * Content-Length or chunks, and anything else is refused. Interim answers (1xx) are skipped. */

#include "client/transport/request.h"

enum {
    REPLY_LINE_SIZE = 1024, /* of a line of the head, its end included */
    REPLY_LINES_MAX = 128,  /* of all heads */
};

enum reply_state {
    REPLY_MORE,  /* is to come */
    REPLY_WHOLE, /* and nothing of it is read any more */
    REPLY_OVER,  /* it is no answer, or the request wants no more of it; the request knows why */
};

/* Which part of the answer comes next. */
enum reply_part {
    REPLY_STATUS_LINE,
    REPLY_HEADER,
    REPLY_BODY, /* `left` bytes of it, or of a chunk */
    REPLY_CHUNK_SIZE,
    REPLY_CHUNK_END,
    REPLY_LAST_LINE, /* after the last chunk */
};

struct reply {
    enum reply_state state;
    bool begun; /* a byte has come: before, it may be that the request was never read */
    /* reply.c's own */
    struct request *request;
    enum reply_part part;
    bool kept;           /* the connection is good for another request */
    bool sized, chunked; /* it has a Content-Length; a Transfer-Encoding */
    int status;          /* of the answer or of an interim one */
    uint64_t left;
    unsigned lines; /* how many were read */
    size_t length;  /* of the line so far */
    char line[REPLY_LINE_SIZE];
};

/* The reply must stay where it is. */
void reply_begin(struct reply *reply, struct request *request);

/* Some bytes, at least one. They may be freed afterwards. */
enum reply_state reply_feed(struct reply *reply, const char *bytes, size_t length);

/* There are no more: the connection was closed, or broke with these words. Not REPLY_MORE. */
enum reply_state reply_end(struct reply *reply, const char *words);

/* Of a whole one: whether the connection is good for another request. */
bool reply_keeps(const struct reply *reply);
