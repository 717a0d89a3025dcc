/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/metrics/histogram.h"
#include "broker/http/routes.h"

#include <stdint.h>

/* What came and went through the listeners, for /metrics: connections, refusals, requests and how
 * long their answers took. */

enum { LISTENER_UNIX, LISTENER_TCP, LISTENER_FRONT, LISTENERS };

enum traffic_refusal {
    REFUSED_LIMIT,     /* an admin or resource manager, every place is taken: 503 */
    REFUSED_SHARE,     /* a user without a role, and all places that those may have are busy: 503 */
    REFUSED_DISPLACED, /* closed because a new connection needed the place: 503 */
    REFUSED_SLOW,      /* closed because a request's head did not end: 503 */
    TRAFFIC_REFUSALS
};

enum { STATUS_FIRST = 100, STATUS_END = 600 };

/* All zero is a valid one. A row for each of routes, and the last for what has none. */
struct traffic {
    uint64_t accepted[LISTENERS];
    unsigned open[LISTENERS];
    unsigned subscribers; /* event streams */
    uint64_t refused[TRAFFIC_REFUSALS];
    uint64_t answered[ROUTES + 1][STATUS_END - STATUS_FIRST];
    struct histogram times[ROUTES + 1]; /* from a request's head to its answer */
};

/* route: NULL for none. took_us: below 0 for what is not measured, as event streams. */
void traffic_answered(struct traffic *traffic, const struct route *route, int status,
                      int64_t took_us);
