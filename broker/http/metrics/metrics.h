/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_METRICS_METRICS_H
#define MCAST_BROKER_HTTP_METRICS_METRICS_H

#include "broker/http/metrics/exposition.h"
#include "broker/http/metrics/usage.h"
#include "broker/http/shared.h"

/* GET /metrics (docs/metrics.md). What is written is bounded by clusters, routes and configured
 * URLs, however many jobs there are.
 *
 * Writing it takes the loop longer than most requests do, so all requests within METRICS_EVERY_MS
 * get the same text (B8). */

enum { METRICS_EVERY_MS = 1000 };

/* An answer's, or the newest, is not used any more; NULL is allowed. */
struct metrics_text;
void metrics_text_drop(struct metrics_text *text);

struct readings {
    const struct http *http;
    const struct core *core;
    struct core_status status;
    struct engine_counters counters;
    struct usage usage;
    bool fm_configured;
    uint64_t events_kept;
    unsigned tcp_waiting, munge_waiting, names_waiting;
    int64_t certificate_ends_ms; /* of the broker on TCP; 0: none */
};

/* Every family that there is. */
void metrics_write(struct exposition *to, const struct readings *readings);

#endif
