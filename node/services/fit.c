/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/fit.h"

#include "base/memory.h"
#include "node/services/service.h"

#include <stdio.h>
#include <string.h>

/* Of the Cassini chip; libcxi does not report it. One pool of list entries is shared by all. */
enum { LE_POOLS = 16 - 1, TLE_POOLS = 4 };

enum { HOLDERS_NAMED = 4 };

static uint32_t count_free(const struct nic *nic, enum cxi_rsrc_type type)
{
    uint32_t reserved = 0, total = limits_total(&nic->info, type);
    for (unsigned int i = 0; nic->services && i < nic->services->count; i++)
        reserved += limits_reserved(&nic->services->descs[i], type);
    return reserved < total ? total - reserved : 0;
}

/* Reservation and maximum follow each other: max >= res, and for TLEs max == res. */
static void grant(struct cxi_limits *limits, enum cxi_rsrc_type type, uint32_t res)
{
    if (type == CXI_RSRC_TYPE_TLE && res < LIMITS_TLES_MIN)
        res = 0; /* the driver would make it the least again, which is not there */
    limits->res = (uint16_t)res;
    if (type == CXI_RSRC_TYPE_TLE)
        limits->max = limits->res;
}

bool fit_lacks(const struct fit *fit, enum cxi_rsrc_type type)
{
    return fit->limits.type[type].res < fit->want.type[type].res;
}

bool fit_lacks_any(const struct fit *fit)
{
    bool any = false;
    for (int type = 0; type < CXI_RSRC_TYPE_MAX; type++)
        any |= fit_lacks(fit, (enum cxi_rsrc_type)type);
    return any;
}

void fit_compute(struct fit *fit, const struct cxi_rsrc_limits *want, const struct nic *nic,
                 struct fit_pools pools)
{
    *fit = (struct fit){.want = *want, .pools = pools};
    for (int i = 0; i < LIMITS_COUNT; i++) {
        enum cxi_rsrc_type type = (enum cxi_rsrc_type)i;
        struct cxi_limits *limits = &fit->limits.type[type];
        uint32_t total = limits_total(&nic->info, type);
        uint32_t left = pools.none[type] ? 0 : count_free(nic, type);
        *limits = want->type[type];
        /* A maximum above the device's is -EINVAL, and Flux and Slurm give up then. */
        if (limits->max > total)
            limits->max = (uint16_t)total;
        grant(limits, type, limits->res < left ? limits->res : left);
    }
}

bool fit_tighten(struct fit *fit, const struct nic *nic)
{
    struct fit now;
    fit_compute(&now, &fit->limits, nic, fit->pools);
    fit->limits = now.limits;
    return fit_lacks_any(&now);
}

/* The first reservation above what the driver had left. It looks at one after the other and stops
 * at the first that does not suffice: what it says of those behind is nothing. It says no number
 * for TLEs. */
static bool shrink_first(struct fit *fit, const struct cxi_svc_fail_info *info)
{
    for (int type = 0; type < CXI_RSRC_TYPE_MAX; type++) {
        struct cxi_limits *limits = &fit->limits.type[type];
        if (type != CXI_RSRC_TYPE_TLE && limits->res > info->rsrc_avail[type]) {
            grant(limits, (enum cxi_rsrc_type)type, info->rsrc_avail[type]);
            return true;
        }
    }
    return false;
}

bool fit_shrink(struct fit *fit, const struct cxi_svc_fail_info *info)
{
    const bool none[CXI_RSRC_TYPE_MAX] = {
        [CXI_RSRC_TYPE_LE] = info->no_le_pools, [CXI_RSRC_TYPE_TLE] = info->no_tle_pools};
    bool smaller = false;
    for (int type = 0; type < CXI_RSRC_TYPE_MAX; type++) {
        if (!none[type] || fit->limits.type[type].res == 0)
            continue;
        smaller = fit->pools.none[type] = true;
        grant(&fit->limits.type[type], (enum cxi_rsrc_type)type, 0);
    }
    if (!smaller && !(smaller = shrink_first(fit, info))) {
        smaller = fit->limits.tles.res > 0;
        grant(&fit->limits.tles, CXI_RSRC_TYPE_TLE, 0);
    }
    return smaller;
}

struct fit_pools fit_count_pools(const struct nic *nic)
{
    unsigned int les = 0, tles = 0;
    for (unsigned int i = 0; nic->services && i < nic->services->count; i++) {
        les += limits_reserved(&nic->services->descs[i], CXI_RSRC_TYPE_LE) > 0;
        tles += limits_reserved(&nic->services->descs[i], CXI_RSRC_TYPE_TLE) > 0;
    }
    return (struct fit_pools){
        .none = {[CXI_RSRC_TYPE_LE] = les >= LE_POOLS, [CXI_RSRC_TYPE_TLE] = tles >= TLE_POOLS}};
}

/* The largest holder that is smaller than `below`, or as large and further back than `after`. */
static const struct cxi_svc_desc *next_holder(const struct nic *nic, enum cxi_rsrc_type type,
                                              const struct cxi_svc_desc *after)
{
    const struct cxi_svc_desc *best = NULL;
    uint32_t below = after ? limits_reserved(after, type) : UINT32_MAX;
    for (unsigned int i = 0; nic->services && i < nic->services->count; i++) {
        const struct cxi_svc_desc *service = &nic->services->descs[i];
        uint32_t holds = limits_reserved(service, type);
        bool later = holds < below || (holds == below && after && service > after);
        if (holds > 0 && later && (!best || holds > limits_reserved(best, type)))
            best = service;
    }
    return best;
}

const char *fit_explain(const struct fit *fit, const struct limits_resource *resource, bool refused,
                        const struct nic *nic, fit_job_fn *job_of, void *arg,
                        char out[FIT_TEXT_SIZE])
{
    const enum cxi_rsrc_type type = resource->type;
    const struct cxi_svc_desc *holder = NULL;
    unsigned int named = 0;
    memset(out, 0, FIT_TEXT_SIZE);
    FILE *text = memory_must(fmemopen(out, FIT_TEXT_SIZE - 1, "w")); /* what is too long is cut */
    fprintf(text, "%s: %u of %u wanted %s %s, the NIC has %u", nic->name,
            fit->limits.type[type].res, fit->want.type[type].res, resource->words,
            refused ? "free" : "granted", limits_total(&nic->info, type));
    if (fit->pools.none[type])
        fprintf(text, ", but no pool of them is left");
    while ((holder = next_holder(nic, type, holder)) && named < HOLDERS_NAMED) {
        char who[SERVICE_TEXT_SIZE];
        const char *job = job_of ? job_of(arg, nic->name, holder->svc_id) : NULL;
        fprintf(text, "%s service %u (%s%s%s%s) holds %u", named++ ? "," : ":", holder->svc_id,
                job ? "job " : "", job ? job : "", job ? ", " : "", service_describe(holder, who),
                limits_reserved(holder, type));
    }
    if (holder)
        fprintf(text, ", and others more");
    fclose(text);
    return out;
}
