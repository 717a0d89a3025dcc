/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/names.h"

#include <stdint.h>

/* Jobs that are remembered for a while although the ledger no longer, or not yet, has them. Both
 * resource managers can send a release before the reserve that it belongs to, and both send
 * releases twice. Bounded: when full, the oldest is forgotten first. In memory only: a restart
 * forgets them, and what then slips through is found by the next sync. */

enum tombstone_kind {
    TOMBSTONE_NONE = 0,
    TOMBSTONE_NEVER_KNOWN, /* a release came for a job that was never reserved */
    TOMBSTONE_GONE,        /* it was reserved, released, and everything confirmed */
    TOMBSTONE_UNANSWERED,  /* a RESERVE for it was never answered */
};

enum { TOMBSTONES_MAX = 16384 };

struct tombstone {
    struct tombstone *chain; /* in its bucket */
    int64_t until_ms;
    uint32_t place; /* in the ring */
    enum tombstone_kind kind;
    char name[]; /* as fm_name_format writes it */
};

/* All zero is empty. */
struct tombstones {
    struct tombstone **ring, **buckets; /* TOMBSTONES_MAX of each, made at first use */
    uint32_t next;                      /* the place that is used next */
};

void tombstones_release(struct tombstones *t);

/* Replaces what is remembered of the job, whose names are valid ones (names.h). */
void tombstones_put(struct tombstones *t, const char *cluster, const char *job,
                    enum tombstone_kind kind, int64_t until_ms);
enum tombstone_kind tombstones_get(const struct tombstones *t, const char *cluster, const char *job,
                                   int64_t now_ms);
void tombstones_forget(struct tombstones *t, const char *cluster, const char *job);
