/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "plan/joblog.h"
#include "tests/system/replay/notes.h"
#include "tests/system/rig/testbed.h"

#include <stdint.h>

/* One round of a job log through a broker: starts and ends sent in the order of time, as fast as
 * the broker takes them, over many connections. A job's end is sent when its start is acknowledged,
 * and no later start before it. What got no answer is sent again until it does. */

struct rounds_options {
    const struct joblog *log;
    struct testbed *testbed; /* fabric manager and broker run */
    unsigned connections;
    unsigned kills; /* kill -9 and restart the broker so many times on the way */
    uint64_t seed;  /* of the moments */
};

/* Plays it to its end. 0, or -1 when it could not go on; faults are in the notes either way. */
int rounds_play(const struct rounds_options *options, struct notes *notes);

/* Waits until the broker holds no reservation and the fabric manager no job. 0, or -1. */
int rounds_await_quiet(struct testbed *testbed);
