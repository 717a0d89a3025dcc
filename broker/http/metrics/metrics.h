/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/metrics/exposition.h"
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

/* What this process takes of the machine, under the names that every Prometheus exporter uses. */

struct usage {
    uint64_t cpu_us; /* user and system, all threads */
    uint64_t resident_bytes, virtual_bytes;
    uint64_t fds, fds_max; /* descriptors in use, and how many there may be */
};

/* What the kernel does not tell stays 0. Costs a few system calls, none of which waits. */
void usage_read(struct usage *out);

/* What the broker knows of itself, for /metrics and the doctor. */
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
    /* Of one among several brokers; else 0: */
    uint64_t lease_us, lease_age_us, etcd_away_us, etcd_answered, etcd_unanswered, leaders,
        standbys;
    const struct histogram *etcd_times; /* never NULL */
};

void readings_take(struct readings *readings, const struct http *http);

/* Every family that there is. */
void metrics_write(struct exposition *to, const struct readings *readings);
