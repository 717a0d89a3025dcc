/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/rig/testbed.h"

#include <stddef.h>

/* Jobs from start to end, with multicast addresses: reserved, released, given back to the fabric
 * manager, lot by lot, so that no more live at once than there are addresses for. */

enum { WHOLEJOBS_AT_ONCE = 100 };

struct wholejobs {
    struct testbed *testbed; /* broker and fabric manager run, their link is up */
    size_t first, count;     /* jobs */
    size_t lot;              /* so many at once; 0: WHOLEJOBS_AT_ONCE */
    unsigned connections;
    /* After half of a lot is reserved, with the number of jobs before that; 0, or -1 to stop. NULL
     * is allowed. */
    int (*meanwhile)(void *arg, size_t done);
    void *arg;
};

/* 0 when all are given back, and how long that took; or -1 with a word on stderr. */
int wholejobs_run(const struct wholejobs *jobs, double *seconds);

/* Waits until the broker has given all addresses back. 0, or -1 with a word on stderr. */
int wholejobs_await_end(struct testbed *testbed);

/* What the fabric manager's double has seen; it does not count what is asked of its controls. 0, or
 * -1 with a word on stderr. */
int wholejobs_fm_totals(struct testbed *testbed, double *requests, double *connections);
/* Jobs that it holds; -1 with a word on stderr. */
double wholejobs_fm_holds(struct testbed *testbed);
