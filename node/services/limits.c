/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/limits.h"

#include <assert.h>

const enum cxi_rsrc_type limits_order[LIMITS_COUNT] = {
#define TYPE_(type, key, words, def, max) CXI_RSRC_TYPE_##type,
    LIMITS_RESOURCES(TYPE_)
#undef TYPE_
};

static const char *const keys[LIMITS_COUNT] = {
#define KEY_(type, key, words, def, max) [CXI_RSRC_TYPE_##type] = #key,
    LIMITS_RESOURCES(KEY_)
#undef KEY_
};

static const char *const words_of[LIMITS_COUNT] = {
#define WORDS_(type, key, words, def, max) [CXI_RSRC_TYPE_##type] = words,
    LIMITS_RESOURCES(WORDS_)
#undef WORDS_
};

const char *limits_key(enum cxi_rsrc_type type)
{
    return keys[type];
}

const char *limits_words(enum cxi_rsrc_type type)
{
    return words_of[type];
}

void limits_init(struct limits_rules *rules)
{
#define RULE_(type, key, words, per_core, most)                                                    \
    rules->of[CXI_RSRC_TYPE_##type] = (struct limits_rule){.def = (per_core), .max = (most)};
    LIMITS_RESOURCES(RULE_)
#undef RULE_
}

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
    switch (type) {
    case CXI_RSRC_TYPE_PTE:
        return info->num_ptes;
    case CXI_RSRC_TYPE_TXQ:
        return info->num_txqs;
    case CXI_RSRC_TYPE_TGQ:
        return info->num_tgqs;
    case CXI_RSRC_TYPE_EQ:
        return info->num_eqs;
    case CXI_RSRC_TYPE_CT:
        return info->num_cts;
    case CXI_RSRC_TYPE_LE:
        return info->num_les;
    case CXI_RSRC_TYPE_TLE:
        return info->num_tles;
    case CXI_RSRC_TYPE_AC:
        return info->num_acs;
    case CXI_RSRC_TYPE_MAX:
        break;
    }
    assert(type < CXI_RSRC_TYPE_MAX);
    return 0;
}
