/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Scales what a job wants of a NIC back to what is free, and says who holds the rest (F7, F11).
 * Pure. */

#include "node/services/limits.h"
#include "node/services/nic.h"

/* Who reserves list entries, or trigger list entries, needs a pool of them, and there are few. */
struct fit_pools {
    bool none[CXI_RSRC_TYPE_MAX]; /* is left, of LE and TLE */
};

struct fit_shortage {
    const struct limits_resource *resource;
    uint16_t wanted, granted;
    bool pools;   /* it is for want of a pool */
    bool refused; /* and so nothing is granted at all: `granted` is what is free */
};

struct fit {
    struct cxi_rsrc_limits limits; /* what to ask for */
    struct fit_pools pools;        /* because of these, too */
    unsigned int shortage_count;
    struct fit_shortage shortages[CXI_RSRC_TYPE_MAX]; /* one a resource, in the order of limits.h */
};

/* The NIC's services have just been read. */
void fit_compute(struct fit *fit, const struct cxi_rsrc_limits *want, const struct nic *nic,
                 struct fit_pools pools);

/* After -ENOSPC, with the services read anew: takes less of what is not free any more. False: all
 * of it is. */
bool fit_tighten(struct fit *fit, const struct cxi_rsrc_limits *want, const struct nic *nic);

/* After -ENOSPC for limits that seemed to fit: takes less of what the driver says it has too little
 * of. False: there is nothing to take less of. */
bool fit_shrink(struct fit *fit, const struct cxi_rsrc_limits *want,
                const struct cxi_svc_fail_info *info);

/* The pools of the chip, as far as the services show them. */
struct fit_pools fit_count_pools(const struct nic *nic);

/* Which job a service belongs to, as far as it is known: "elcap/f2Rs8sydSxmd", or NULL. */
typedef const char *fit_job_fn(void *arg, const char *device, unsigned int service);

enum { FIT_TEXT_SIZE = 640 };

/* "cxi0: 32 of 96 wanted trigger list entries granted, the NIC has 2048: service 12 (job elcap/17,
 * uid 5588, VNI 1024) holds 1504, service 1 (system, VNIs 1,10) holds 512". The largest holders
 * come first. Returns out. job_of may be NULL. */
const char *fit_explain(const struct fit_shortage *shortage, const struct nic *nic,
                        fit_job_fn *job_of, void *arg, char out[FIT_TEXT_SIZE]);
