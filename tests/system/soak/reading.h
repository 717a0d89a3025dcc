/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/rig/testbed.h"

#include <stdint.h>

/* One look at the broker's process and its ledger. */

struct reading {
    double time_s;                  /* since the campaign began */
    unsigned life;                  /* of the broker, from 0 */
    double life_s;                  /* how old it is */
    double jobs;                    /* released since the campaign began */
    double live;                    /* jobs, by the broker */
    double rss, db, wal;            /* bytes */
    double fds;                     /* open descriptors */
    double events;                  /* that can be replayed */
    double loop_ms;                 /* the longest time the loop was stalled */
    double p50_ms, p99_ms, reserve; /* latency since the last look; part that got addresses */
};

/* Fills in what the broker, the kernel and the disk tell; the rest is the caller's. 0, or -1. */
int reading_take(struct testbed *testbed, struct reading *out);
