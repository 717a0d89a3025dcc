/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/limits.h"

const struct limits_resource limits_resources[LIMITS_COUNT] = {
#define RESOURCE_(type, key, words, def, max, total) {CXI_RSRC_TYPE_##type, #key, words},
    LIMITS_RESOURCES(RESOURCE_)
#undef RESOURCE_
};

void limits_want(const struct limits_rules *rules, uint32_t cores, struct cxi_rsrc_limits *want)
{
    for (int type = 0; type < LIMITS_COUNT; type++) {
        const struct limits_rule *rule = &rules->of[type];
        uint64_t res = rule->res > 0 ? rule->res : (uint64_t)rule->def * cores;
        if (type == CXI_RSRC_TYPE_TLE && res > 0 && res < LIMITS_TLES_MIN)
            res = LIMITS_TLES_MIN;
        if (res > rule->max)
            res = rule->max;
        uint64_t max = type == CXI_RSRC_TYPE_TLE ? res : rule->max;
        want->type[type] = (struct cxi_limits){.max = (uint16_t)max, .res = (uint16_t)res};
    }
}

uint32_t limits_total(const struct cxil_devinfo *info, enum cxi_rsrc_type type)
{
    const uint16_t totals[LIMITS_COUNT] = {
#define TOTAL_(type, key, words, def, max, total) [CXI_RSRC_TYPE_##type] = info->total,
        LIMITS_RESOURCES(TOTAL_)
#undef TOTAL_
    };
    return totals[type];
}

uint32_t limits_reserved(const struct cxi_svc_desc *service, enum cxi_rsrc_type type)
{
    return service->resource_limits ? service->limits.type[type].res : 0;
}
