/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "plan/joblog.h"
#include "tests/system/rig/testbed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Drives a job log through a broker again and again, at a steady rate: starts and ends in the order
 * of time, each lap with job ids of its own. What is acknowledged is noted and checked, what is not
 * is asked for again (B6). */

enum { DRIVE_LATENCIES = 8192 };

struct drive_options {
    const struct joblog *log; /* borrowed */
    struct testbed *testbed;  /* the same */
    unsigned connections;
    unsigned jobs_per_second; /* at most */
};

/* Since it was created, but for the latencies: those since drive_forget_latencies. */
struct drive_counts {
    uint64_t laps, jobs; /* jobs released, acknowledged */
    uint64_t reserved, without, repeated, refused;
    size_t live;
    size_t faults;
    int64_t latencies_ns[DRIVE_LATENCIES]; /* the first so many */
    size_t latency_count;
};

struct drive;
struct drive *drive_create(const struct drive_options *options); /* NULL: out of memory */
void drive_destroy(struct drive *drive);                         /* NULL is allowed */

/* Sends what is due and takes the answers of the next few milliseconds. 0; -1 when it cannot go on:
 * the reason is on stderr. */
int drive_turn(struct drive *drive);
/* No new job begins from now on; true once every one that has begun is released. */
bool drive_finish(struct drive *drive);

/* Connections may break from now on, and everything under way is to be sent again; after it, the
 * broker is started anew. */
void drive_broken(struct drive *drive);
/* Compares what the broker says of every live job with what was acknowledged. */
void drive_compare(struct drive *drive);

const struct drive_counts *drive_counts(const struct drive *drive);
void drive_forget_latencies(struct drive *drive);
