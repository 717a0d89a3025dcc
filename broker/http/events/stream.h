/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_EVENTS_STREAM_H
#define MCAST_BROKER_HTTP_EVENTS_STREAM_H

#include "broker/http/request/call.h"
#include "core/reservation/record.h"

/* One subscriber of events (F24): server-sent events pulled from what the core keeps. A subscriber
 * is a number, the last event it has had; however slowly it reads, nothing gathers for it. If what
 * it has yet to read is no longer kept, it gets the range of numbers that it missed. One that reads
 * nothing while thousands happen is dropped, and so is one that reads nothing for the idle time of
 * the server. */

struct stream;

/* After the event `after`, up to what is durable; then the end, or with follow whatever comes.
 * tell_gap: whether to tell a gap before the first event too. NULL: out of memory. */
struct stream *stream_create(struct call *call, uint64_t after, bool tell_gap, bool follow);
void stream_destroy(struct stream *stream);                  /* NULL is allowed */
struct MHD_Response *stream_response(struct stream *stream); /* to be sent for its call */

/* Lets all that wait go on: something is new, or (pulse) they get a keep-alive. */
void stream_wake_all(struct http *http, bool pulse);

#endif
