/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The stream of server-sent events that mcastd sends (WHATWG HTML, "Interpreting an event stream"),
 * read in pieces of any size. Lines end in LF, and an event's data is one line, else the last one
 * counts; comments and unknown fields are skipped; an event that the stream's end cuts off never
 * shows. */

#include "client/mcast.h"
#include "client/text.h"

enum { SSE_EVENT_MAX = 1 << 20 /* bytes of all its lines */ };

/* One event: its name ("message" unless the stream named it) and its data, valid during the call.
 * Non-zero ends the reading. */
typedef int sse_event_fn(const char *name, const char *data, void *arg);

/* Begins zeroed: struct sse stream = {0}. */
struct sse {
    struct text event; /* its lines so far */
};

/* 0, or what the callback returned if that was not 0; MCAST_UNCLEAR: an event is longer than
 * SSE_EVENT_MAX; MCAST_NOMEM. After anything but 0 the parser is only good for sse_release. */
int sse_feed(struct sse *stream, const char *bytes, size_t length, sse_event_fn *each, void *data,
             struct mcast_error *error);

void sse_release(struct sse *stream);

/* One event of the broker's (F24). document_free it after 0. line: its data, which must stay until
 * then; name may go away. */
int event_decode(struct mcast_event **out, const char *name, const char *line,
                 struct mcast_error *error);
