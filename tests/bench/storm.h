/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/bench/report.h"

#include <stddef.h>
#include <stdint.h>

/* One job on the whole machine starts, and ends: each of its nodes tells the broker that its
 * services exist, and later that none is left (F3). Meanwhile somebody else starts jobs, one after
 * another: a storm must not starve them. */

struct storm_options {
    const char *mcastd; /* the program */
    size_t nodes;
    struct report *report; /* is told how long the loop was away */
};

/* Everybody tells the same, over kept connections. */
struct storm_wave {
    double seconds; /* until the last report is answered, and so durable */
    double commits; /* of the broker meanwhile, those for other jobs included */
    double cpu_us;  /* of the broker, a report */
    double reserve_median_us, reserve_p99_us; /* latency of one of another job */
};

struct storm {
    struct storm_wave created, destroyed;
    /* What a report of four services takes while its job lives. */
    double memory_bytes, ledger_bytes;
};

/* 0, or -1 with a word on stderr: a report was not taken, or the job's end is not complete with the
 * last one of them, nor before it. */
int storm_measure(const struct storm_options *options, struct storm *out);
