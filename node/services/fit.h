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

struct fit {
    struct cxi_rsrc_limits want, limits; /* what was wanted, and what to ask for */
    struct fit_pools pools;              /* because of these, too */
};

/* The NIC's services have just been read. */
void fit_compute(struct fit *fit, const struct cxi_rsrc_limits *want, const struct nic *nic,
                 struct fit_pools pools);

/* Whether less of it is asked for than was wanted; of any, for fit_lacks_any. */
bool fit_lacks(const struct fit *fit, enum cxi_rsrc_type type);
bool fit_lacks_any(const struct fit *fit);

/* After -ENOSPC, with the services read anew: takes less of what is not free any more. False: all
 * of it is. */
bool fit_tighten(struct fit *fit, const struct nic *nic);

/* After -ENOSPC for limits that seemed to fit: takes less of what the driver says it has too little
 * of. False: there is nothing to take less of. */
bool fit_shrink(struct fit *fit, const struct cxi_svc_fail_info *info);

/* The pools of the chip, as far as the services show them. */
struct fit_pools fit_count_pools(const struct nic *nic);

/* Which job a service belongs to, as far as it is known: "elcap/f2Rs8sydSxmd", or NULL. */
typedef const char *fit_job_fn(void *arg, const char *device, unsigned int service);

enum { FIT_TEXT_SIZE = 640 };

/* "cxi0: 32 of 96 wanted trigger list entries granted, the NIC has 2048: service 12 (job elcap/17,
 * uid 5588, VNI 1024) holds 1504, service 1 (system, VNIs 1,10) holds 512". The largest holders
 * come first. refused: nothing is granted, and so much is free. Returns out. job_of may be NULL. */
const char *fit_explain(const struct fit *fit, const struct limits_resource *resource, bool refused,
                        const struct nic *nic, fit_job_fn *job_of, void *arg,
                        char out[FIT_TEXT_SIZE]);
