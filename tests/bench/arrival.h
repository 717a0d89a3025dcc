/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/bench/report.h"

#include <stdbool.h>
#include <stddef.h>

/* The nodes of one job as they really come: each by itself, from an address of its own, over a new
 * TLS connection, to say one thing (F3). */

/* The address of the host that makes all credentials (names.c). */
#define ARRIVAL_ORIGIN "192.0.2.1"

struct arrival_options {
    const char *mcastd; /* the program */
    size_t nodes;
    size_t at_once;           /* how many come before the first is answered */
    unsigned spread_ms;       /* in which all of these come */
    const char *names;        /* each proves itself by a MUNGE credential, and this library resolves
                                 the nodes' names; NULL: each shows a certificate of its own */
    bool reserves;            /* small jobs start and end meanwhile */
    unsigned connections_max; /* the broker's; 0: its default */
    struct report *report;    /* is told how long the loop was away, */
    const char *away;         /* under this key */
};

struct arrival {
    double seconds;     /* until the last node has its answer, and what it said is durable */
    double cpu_us;      /* of the broker, a node */
    double turn_cpu_ms; /* that one turn of the broker's loop computed, at most */
    size_t closed;      /* tries that ended without an answer: the connection was closed */
    size_t given_up;    /* tries that took too long */
    size_t refused;     /* tries that were answered 503 */
    double quiet_us, median_us, p99_us; /* a small job's reserve: before they come, and meanwhile */
};

/* A node that was put off comes again after a pause, as mcast-node does. 0, or -1 with a word on
 * stderr. */
int arrival_measure(const struct arrival_options *options, struct arrival *out);
