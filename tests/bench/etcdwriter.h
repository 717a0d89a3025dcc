/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/rig/etcdcluster.h"

#include <stddef.h>

/* What one guarded transaction costs on these members of etcd at the very least: the broker's two
 * guards (docs/high-availability.md, "Keys"), new keys, one transaction at a time on one kept
 * connection to the first member; and nothing is decided or parsed. */

struct etcdwriter_options {
    const char *certificates; /* as struct etcdcluster_options; NULL: no TLS */
    size_t puts;              /* a transaction, beside that of the sequence */
    size_t value_size;        /* bytes of each */
    size_t count;             /* transactions */
};

struct etcdwriter_result {
    double rate;      /* transactions a second */
    double median_us; /* of one */
    double cpu_us;    /* of the writer, a transaction */
};

/* Its keys lie outside of any broker's prefix. 0, or -1 with a word on stderr. */
int etcdwriter_run(struct etcdcluster *cluster, const struct etcdwriter_options *options,
                   struct etcdwriter_result *out);
