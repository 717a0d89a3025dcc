/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CORE_RESERVATION_TOMBSTONES_H
#define MCAST_CORE_RESERVATION_TOMBSTONES_H

#include "base/names.h"

#include <stdbool.h>
#include <stdint.h>

/* Jobs that are remembered for a while although the ledger no longer, or not yet, has them. Both
 * resource managers can send a release before the reserve that it belongs to, and both send
 * releases twice. Bounded: when full, the oldest is forgotten first. In memory only: a restart
 * forgets them, and what then slips through is found by the next sync. */

enum tombstone_kind {
    TOMBSTONE_NONE = 0,
    TOMBSTONE_NEVER_KNOWN, /* a release came for a job that was never reserved */
    TOMBSTONE_GONE,        /* it was reserved, released, and everything confirmed */
};

enum { TOMBSTONES_MAX = 16384 };

struct tombstone {
    struct tombstone *chain; /* in its bucket */
    int64_t until_ms;
    enum tombstone_kind kind;
    bool used;
    char cluster[CLUSTER_NAME_MAX + 1];
    char job[JOB_ID_MAX + 1];
};

struct tombstones {
    struct tombstone *ring; /* capacity of them; made at first use, and then grows */
    struct tombstone **buckets;
    uint32_t capacity; /* a power of 2, up to TOMBSTONES_MAX */
    uint32_t next;     /* the place that is used next */
};

void tombstones_init(struct tombstones *t);
void tombstones_release(struct tombstones *t);

/* Replaces what is remembered of the job, whose names are valid ones (names.h). */
void tombstones_put(struct tombstones *t, const char *cluster, const char *job,
                    enum tombstone_kind kind, int64_t until_ms);
enum tombstone_kind tombstones_get(const struct tombstones *t, const char *cluster, const char *job,
                                   int64_t now_ms);
void tombstones_forget(struct tombstones *t, const char *cluster, const char *job);

#endif
