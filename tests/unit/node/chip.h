/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A Cassini chip and services on it, as the units of mcast-node see them. */

#include "node/services/fit.h"
#include "node/settings.h"

#include <stdlib.h>
#include <string.h>

static inline struct cxil_devinfo chip_info(unsigned int dev_id)
{
    struct cxil_devinfo info = {.dev_id = dev_id,
                                .num_ptes = 2048,
                                .num_txqs = 1024,
                                .num_tgqs = 512,
                                .num_eqs = 2047,
                                .num_cts = 2047,
                                .num_acs = 1022,
                                .num_tles = 2048,
                                .num_les = 16384,
                                .link_state = 1};
    info.device_name[0] = 'c';
    info.device_name[1] = 'x';
    info.device_name[2] = 'i';
    info.device_name[3] = (char)('0' + dev_id);
    return info;
}

/* The resources of which a fit lacks some, as bits 1 << enum cxi_rsrc_type. */
static inline int chip_lacking(const struct fit *fit)
{
    int lacking = 0;
    for (int type = 0; type < CXI_RSRC_TYPE_MAX; type++)
        lacking |= fit_lacks(fit, (enum cxi_rsrc_type)type) << type;
    return lacking;
}

/* A job's, as mcast-node makes them; with one VNI. */
static inline struct cxi_svc_desc chip_service(unsigned int id, uint32_t uid, uint16_t vni)
{
    struct cxi_svc_desc service = {.restricted_members = 1,
                                   .restricted_vnis = 1,
                                   .restricted_tcs = 1,
                                   .resource_limits = 1,
                                   .enable = 1,
                                   .num_vld_vnis = 1,
                                   .vnis = {vni},
                                   .svc_id = id};
    service.tcs[CXI_TC_LOW_LATENCY] = service.tcs[CXI_TC_BEST_EFFORT] = true;
    service.members[0].type = CXI_SVC_MEMBER_UID;
    service.members[0].svc_member.uid = uid;
    return service;
}

/* The driver's own: VNIs 1 and 10, 512 trigger list entries. */
static inline struct cxi_svc_desc chip_default_service(void)
{
    struct cxi_svc_desc service = {.restricted_vnis = 1,
                                   .resource_limits = 1,
                                   .num_vld_vnis = 2,
                                   .vnis = {1, 10},
                                   .svc_id = CXI_DEFAULT_SVC_ID};
    service.limits.tles = (struct cxi_limits){.max = 512, .res = 512};
    return service;
}

/* The defaults. */
static inline struct limits_rules chip_rules(void)
{
    static struct settings settings;
    settings_init(&settings);
    return settings.limits;
}

/* For free(). */
static inline struct cxil_svc_list *chip_list(const struct cxi_svc_desc *services,
                                              unsigned int count)
{
    struct cxil_svc_list *list = calloc(1, sizeof *list + count * sizeof *services);
    if (!list)
        abort();
    list->count = count;
    memcpy(list->descs, services, count * sizeof *services);
    return list;
}
