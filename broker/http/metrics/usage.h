/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_METRICS_USAGE_H
#define MCAST_BROKER_HTTP_METRICS_USAGE_H

#include <stdint.h>

/* What this process takes of the machine, under the names that every Prometheus exporter uses. */

struct usage {
    uint64_t cpu_us; /* user and system, all threads */
    uint64_t resident_bytes, virtual_bytes;
    uint64_t fds, fds_max; /* descriptors in use, and how many there may be */
};

/* What the kernel does not tell stays 0. Costs a few system calls, none of which waits. */
void usage_read(struct usage *out);

#endif
