/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_NODE_SERVICES_CREATE_H
#define MCAST_NODE_SERVICES_CREATE_H

/* One service for a job on every NIC (F7). */

#include "node/services/claim.h"
#include "node/services/fit.h"
#include "node/services/nic.h"

struct create_order {
    const struct claim *claim;
    struct cxi_rsrc_limits want;
    unsigned int traffic_classes; /* bits of enum traffic_class */
    bool exact;                   /* all that is wanted, or nothing */
    nic_service_fn *is_there;     /* whether a service is the job's already */
    void *arg;
};

/* Makes one on the NIC unless there is one already; its services have just been read. Returns the
 * id, and in *fit what it was given (all wanted, if it was there). Negative, with NIC, cause and
 * next step: ERROR_FULL when an exact order cannot be met, whose shortages *fit then has;
 * ERROR_REFUSED or ERROR_IO when no job could have one. Then nothing was made. Other processes must
 * not allocate meanwhile (statedir_lock), else less may be granted than could be. */
int create_on(const struct nics *nics, struct nic *nic, const struct create_order *order,
              struct fit *fit, struct error *err);

/* Because of the fit's shortages, when all is wanted or nothing: marks them so; ERROR_FULL. */
int create_refuse(const struct nic *nic, struct fit *fit, struct error *err);

#endif
