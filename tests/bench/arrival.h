/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/bench/report.h"

#include <stddef.h>

/* The nodes of one job as they really come: each by itself, from an address of its own, over a new
 * TLS connection, with a certificate that names it, to say one thing (F3). */

struct arrival_options {
    const char *mcastd; /* the program */
    size_t nodes;
    size_t at_once;           /* how many come before the first is answered */
    unsigned connections_max; /* the broker's; 0: its default */
    struct report *report;    /* is told how long the loop was away */
};

struct arrival {
    double seconds;  /* until the last node has its answer, and what it said is durable */
    double cpu_us;   /* of the broker, a node */
    size_t closed;   /* tries that ended without an answer: the connection was closed */
    size_t given_up; /* tries that took too long */
    size_t refused;  /* tries that were answered 503 */
};

/* A node that was put off comes again after a pause, as mcast-node does. 0, or -1 with a word on
 * stderr. */
int arrival_measure(const struct arrival_options *options, struct arrival *out);
