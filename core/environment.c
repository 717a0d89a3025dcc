/* SPDX-License-Identifier: Apache-2.0 */
#include "core/environment.h"

#include <assert.h>
#include <stdio.h>

void environment_each(const struct core_config *config, const char *fm_url,
                      const struct reservation *r, const char *step,
                      void (*each)(void *arg, const char *name, const char *value), void *arg)
{
    assert(fm_url);
    char text[FM_URL_SIZE + 64];
    const char *job_url = config->job_url[0] != '\0' ? config->job_url : fm_url;

    /* An object that a new ledger found at the fabric manager has no token we know. */
    if (r->hwcoll != HWCOLL_RESERVED || secret_none(r->token))
        return;

    (void)snprintf(text, sizeof text, "%u", r->min_nodes);
    each(arg, "FI_CXI_HWCOLL_MIN_NODES", text);
    (void)snprintf(text, sizeof text, "%u", r->addresses);
    each(arg, "FI_CXI_HWCOLL_ADDRS_PER_JOB", text);
    fm_name_format(text, r->cluster, r->job);
    each(arg, "FI_CXI_COLL_JOB_ID", text);
    each(arg, "FI_CXI_COLL_JOB_STEP_ID", step ? step : "0");
    each(arg, "FI_CXI_COLL_MCAST_TOKEN", secret_expose(r->token));
    (void)snprintf(text, sizeof text, "%s/fabric/collectives/multicasts", job_url);
    each(arg, "FI_CXI_COLL_FABRIC_MGR_URL", text);
    each(arg, "FI_CXI_COLL_FABRIC_MGR_CACERT", config->job_ca);
}
