#ifndef MCAST_CLIENT_RESERVATION_H
#define MCAST_CLIENT_RESERVATION_H

/* Decodes a reservation as the broker sends it (api.md). */

#include "client/mcast.h"

#include <jansson.h>

/* Takes over the reference to root, also on failure. MCAST_UNCLEAR when a field that is needed is
 * missing, or one is of a wrong type; unknown fields and words are fine. */
int reservation_decode(json_t *root, struct mcast_reservation **out, struct mcast_error *error);

/* The body of an answer, which is one reservation. */
int reservation_parse(const char *body, size_t length, struct mcast_reservation **out,
                      struct mcast_error *error);

#endif
