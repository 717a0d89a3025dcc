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

void stream_destroy(struct stream *stream);                  /* NULL is allowed */
struct MHD_Response *stream_response(struct stream *stream); /* to be sent for its call */

/* Something is new, or a right has ended: all that wait go on. */
void stream_wake_all(struct http *http);
/* Every second: those that wait get a keep-alive now and then. */
void stream_pulse(struct http *http);

#endif
