#ifndef MCAST_CLIENT_TRANSPORT_H
#define MCAST_CLIENT_TRANSPORT_H

/* Carries requests to the broker over one kept connection and brings back the answers. */

#include "client/call.h"
#include "client/credentials.h"
#include "client/endpoint.h"

struct transport;
struct flight_peer;

int transport_create(struct transport **out, const struct endpoint *endpoint,
                     struct mcast_error *error);
void transport_destroy(struct transport *transport);
void transport_set_timeout(struct transport *transport, unsigned milliseconds);
unsigned transport_timeout(const struct transport *transport);
const char *transport_peer(const struct transport *transport); /* endpoint_name */

/* To be set before the first call. */
struct credentials *transport_credentials(struct transport *transport);

/* What is known of the broker, and set for it. */
const struct flight_peer *transport_flights(const struct transport *transport);

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
int transport_stream(struct transport *transport, const struct call *call, call_piece_fn *each,
                     void *data, struct answer *answer, struct mcast_error *error);

/* Waits, but not when stopped. MCAST_OK or MCAST_STOPPED. */
int transport_pause(struct transport *transport, unsigned milliseconds, struct mcast_error *error);

/* Safe in signal handlers. For ever. */
void transport_stop(struct transport *transport);

#endif
