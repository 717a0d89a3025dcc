/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How much of each NIC resource a job's service reserves, and may use at most, by the cores that
 * the job has on the node (F7). Pure. */

#include "cxi/abi.h"

#include <stdint.h>

/* Type; key in node.conf; words for people; reserved per core, maximum: HPE's values, from the Flux
 * Slingshot design; member of struct cxil_devinfo. In the order in which people read them. */
#define LIMITS_RESOURCES(X)                                                                        \
    X(TXQ, txqs, "transmit command queues", 2, 2048, num_txqs)                                     \
    X(TGQ, tgqs, "target command queues", 1, 1024, num_tgqs)                                       \
    X(EQ, eqs, "event queues", 2, 2047, num_eqs)                                                   \
    X(CT, cts, "counters", 1, 2047, num_cts)                                                       \
    X(TLE, tles, "trigger list entries", 1, 2048, num_tles)                                        \
    X(PTE, ptes, "portal table entries", 6, 2048, num_ptes)                                        \
    X(LE, les, "list entries", 16, 16384, num_les)                                                 \
    X(AC, acs, "addressing contexts", 2, 1022, num_acs)

struct limits_rule {
    uint32_t def; /* reserved per core */
    uint32_t res; /* reserved, however many cores; 0: def applies */
    uint32_t max; /* 0 to 65535 */
};

struct limits_rules {
    struct limits_rule of[CXI_RSRC_TYPE_MAX]; /* by enum cxi_rsrc_type */
};

enum { LIMITS_COUNT = CXI_RSRC_TYPE_MAX, LIMITS_TLES_MIN = 8 };

struct limits_resource {
    enum cxi_rsrc_type type;
    const char *key;   /* "txqs" */
    const char *words; /* "transmit command queues" */
};

extern const struct limits_resource limits_resources[LIMITS_COUNT]; /* in the table's order */

/* What a job with so many cores is to get. No reservation exceeds its maximum; of trigger list
 * entries the maximum is the reservation, and a service with some has at least LIMITS_TLES_MIN,
 * because the driver makes it so. */
void limits_want(const struct limits_rules *rules, uint32_t cores, struct cxi_rsrc_limits *want);

/* How many of a resource the NIC has. */
uint32_t limits_total(const struct cxil_devinfo *info, enum cxi_rsrc_type type);

/* What the service reserves of it. */
uint32_t limits_reserved(const struct cxi_svc_desc *service, enum cxi_rsrc_type type);
