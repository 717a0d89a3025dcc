#ifndef MCAST_CLIENT_HEADERS_H
#define MCAST_CLIENT_HEADERS_H

/* The headers of one request, with the proof of who sends it; and the Date of an answer. */

#include "client/call.h"
#include "client/credentials.h"
#include "core/secret.h"

enum { HEADERS_MAX = 5 };

/* Lines "Name: value", each in memory of its own, so that none is copied unwiped when there are
 * more of them. */
struct headers {
    char *line[HEADERS_MAX];
    size_t count;
};

/* Why a request that may do without a MUNGE credential goes without one; "" when it has one or
 * needs none. */
struct headers_note {
    char text[320];
};

/* *out, which is empty, is the caller's to headers_release, whatever is returned. token: for calls
 * that are made with one. credentials NULL: none are wanted. MCAST_NOMEM, or MCAST_UNREACHABLE when
 * there must be a credential and is none. */
int headers_make(struct headers *out, const struct call *call, struct secret token,
                 const struct credentials *credentials, struct headers_note *unproved,
                 struct mcast_error *error);

/* Wipes them: a token may be among them. */
void headers_release(struct headers *headers);

/* The time in a Date header: "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7, the one form that
 * may still be sent), in seconds since 1970. False: the text is no such date. What stands behind it
 * does not matter. */
bool headers_read_date(const char *text, size_t length, int64_t *seconds);

#endif
