/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/create.h"

#include "node/services/limits.h"
#include "node/services/match.h"

#include <errno.h>
#include <string.h>

/* Each answer of -ENOSPC reduces at least one reservation, down to 0; other processes may allocate
 * meanwhile, outside our lock. */
enum { TRIES_MAX = 4 * CXI_RSRC_TYPE_MAX };

/* The descriptor of a job's service, with what the fit grants. */
static void fill_descriptor(struct cxi_svc_desc *desc, const struct create_order *order,
                            const struct fit *fit)
{
    const struct claim *claim = order->claim;
    *desc = (struct cxi_svc_desc){.restricted_members = 1,
                                  .restricted_vnis = 1,
                                  .restricted_tcs = 1,
                                  .resource_limits = 1,
                                  .num_vld_vnis = (uint8_t)claim->vni_count,
                                  .limits = fit->limits};
    memcpy(desc->vnis, claim->vnis, sizeof desc->vnis);
    desc->members[0].type = CXI_SVC_MEMBER_UID;
    desc->members[0].svc_member.uid = claim->uid;
    for (int tc = CXI_TC_DEDICATED_ACCESS; tc <= CXI_TC_BEST_EFFORT; tc++)
        desc->tcs[tc] = (order->traffic_classes >> tc & 1U) != 0;
}

/* A VNI can be one service's only; a leftover may still have it. */
static int explain_taken(const struct nic *nic, const struct claim *claim, struct error *err)
{
    char who[MATCH_TEXT_SIZE];
    for (unsigned int i = 0; nic->services && i < nic->services->count; i++) {
        const struct cxi_svc_desc *service = &nic->services->descs[i];
        for (unsigned int v = 0; v < claim->vni_count; v++) {
            if (match_has_vni(service, claim->vnis[v]))
                return error_set(err, ERROR_REFUSED,
                                 "%s: VNI %u is still in use by service %u (%s); mcast-node clean "
                                 "--dry-run shows whether that is a leftover",
                                 nic->name, claim->vnis[v], service->svc_id,
                                 match_describe(service, who));
        }
    }
    return error_set(err, ERROR_REFUSED,
                     "%s: the driver says that a VNI of the job is in use, but no service has it; "
                     "look at dmesg",
                     nic->name);
}

static int explain_failure(const struct nic *nic, const struct claim *claim, int failure,
                           struct error *err)
{
    char vnis[CLAIM_VNIS_TEXT_SIZE];
    switch (-failure) {
    case EEXIST:
        return explain_taken(nic, claim, err);
    case EPERM:
        return error_set(err, ERROR_REFUSED,
                         "%s: no service: that needs CAP_SYS_ADMIN; run it as root", nic->name);
    case ENOSPC:
        return error_set(err, ERROR_REFUSED,
                         "%s: no service, not even without any reservation: %s; mcast-node list "
                         "shows who holds what",
                         nic->name, strerror(ENOSPC));
    case EINVAL:
        return error_set(err, ERROR_REFUSED,
                         "%s: the driver calls the service invalid (uid %u, VNIs %s); compare "
                         "max_… of node.conf with mcast-node list --max, and look at dmesg",
                         nic->name, claim->uid, claim_vnis(claim->vnis, claim->vni_count, vnis));
    default:
        return error_set(err, ERROR_IO, "%s: no service: %s; look at dmesg", nic->name,
                         strerror(-failure));
    }
}

int create_refuse(const struct nic *nic, struct fit *fit, struct error *err)
{
    for (unsigned int i = 0; i < fit->shortage_count; i++)
        fit->shortages[i].refused = true;
    return error_set(err, ERROR_FULL,
                     "%s: no service: less is free than the job wants, and with adjust_limits = no "
                     "it is to have all or nothing",
                     nic->name);
}

/* What to try next; false: nothing is left to try. */
static bool scale_back(const struct nics *nics, struct nic *nic, const struct create_order *order,
                       struct fit *fit, const struct cxi_svc_fail_info *info)
{
    if (nic_refresh(nics, nic) < 0)
        return false;
    /* Another process may have been faster; if not, the driver counts more than it lists. */
    return fit_tighten(fit, &order->want, &nic->info, nic->services) ||
           fit_shrink(fit, &order->want, info);
}

int create_on(const struct nics *nics, struct nic *nic, const struct create_order *order,
              struct fit *fit, struct error *err)
{
    const struct claim *claim = order->claim;
    const struct cxi_svc_desc *there = nic_service(nic, order->is_there, order->arg);
    if (there) {
        *fit = (struct fit){.limits = there->limits};
        return (int)there->svc_id;
    }
    fit_compute(fit, &order->want, &nic->info, nic->services, (struct fit_pools){0});
    if (order->exact && fit->shortage_count > 0)
        return create_refuse(nic, fit, err);
    int id = -ENOSPC;
    for (int tries = 0; tries < TRIES_MAX; tries++) {
        struct cxi_svc_fail_info info = {0};
        struct cxi_svc_desc desc;
        fill_descriptor(&desc, order, fit);
        id = nics->calls->alloc_svc(nic->device, &desc, &info);
        if (id != -ENOSPC || !scale_back(nics, nic, order, fit, &info))
            break;
        if (order->exact)
            return create_refuse(nic, fit, err);
    }
    if (id > 0)
        return id;
    /* A call that was cut short may have had its effect. */
    if (id == -EINTR && nic_refresh(nics, nic) == 0 &&
        (there = nic_service(nic, order->is_there, order->arg)))
        return (int)there->svc_id;
    return explain_failure(nic, claim, id == 0 ? -EIO : id, err);
}
