#ifndef MCAST_CLIENT_EVENT_H
#define MCAST_CLIENT_EVENT_H

/* Decodes one event of the broker's stream (api.md, F24). */

#include "client/mcast.h"
#include "client/sse.h"

#include <jansson.h>

struct event {
    struct mcast_event seen;
    json_t *root; /* the strings live here, */
    char *line;   /* and the data in one line here */
};

/* event_release it after 0. sent may go away before. */
int event_decode(struct event *event, const struct sse_event *sent, struct mcast_error *error);

void event_release(struct event *event);

#endif
