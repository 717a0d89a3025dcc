/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The stream of server-sent events that mcastd sends (WHATWG HTML, "Interpreting an event stream"),
 * read in pieces of any size. Lines end in LF; comments and unknown fields are skipped; an event
 * that the stream's end cuts off never shows. */

#include "client/mcast.h"
#include "client/text.h"

#include <jansson.h>

enum {
    SSE_LINE_MAX = 1 << 20,
    SSE_DATA_MAX = 1 << 20, /* all data lines of one event */
};

/* One event: its name ("message" unless the stream named it) and its lines, joined by LF; valid
 * during the call. Non-zero ends the reading. */
typedef int sse_event_fn(const char *name, const char *lines, void *data);

enum sse_fault {
    SSE_TOO_LONG = -1, /* a line or the data of an event is beyond its limit */
    SSE_NOMEM = -2,
};

/* Begins zeroed: struct sse stream = {0}. */
struct sse {
    struct text line, name, data;
    bool has_data; /* at least one data line, perhaps empty */
};

/* 0, an enum sse_fault, or what the callback returned if that was not 0. After anything but 0 the
 * parser is only good for sse_release. */
int sse_feed(struct sse *stream, const char *bytes, size_t length, sse_event_fn *each, void *data);

void sse_release(struct sse *stream);

/* One event of the broker's (F24). */
struct event {
    struct mcast_event seen;
    json_t *root; /* the strings live here, */
    char *line;   /* and the data in one line here */
};

/* event_release it after 0. name and lines may go away before. */
int event_decode(struct event *event, const char *name, const char *lines,
                 struct mcast_error *error);

void event_release(struct event *event);
