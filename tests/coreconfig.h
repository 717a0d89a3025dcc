/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/config.h"
#include "core/reservation/record.h"

#include <string.h>

/* What tests, the simulator and fuzzers begin with: a configuration that is whole. What a site gets
 * stands in broker/config/keys.inc, and [vni] hold is another there: here it ends. */
static inline void coreconfig_init(struct core_config *config)
{
    *config = (struct core_config){
        .vni_per_job = 1,
        .vni_single_node = true,
        .vni_required = true,
        .vni_partition = "default",
        .shared_max = 64,
        .shared_per_user = 4,
        .vni_hold_ms = 600 * 1000,
        .classes_default = TC_BEST_EFFORT | TC_LOW_LATENCY,
        .classes_allowed = TC_BEST_EFFORT | TC_LOW_LATENCY,
        .sharing = 1,
        .reserve_timeout_ms = 2 * 1000,
        .call_timeout_ms = 10 * 1000,
        .calls_at_once = 16,
        .relist_ms = 600 * 1000,
        .stray_grace_ms = 30 * 1000,
        .mass_loss_percent = 10,
        .mass_loss_min = 3,
        .link_retry_ms = 1000,
        .cleanup_timeout_ms = 600 * 1000,
        .sync_grace_ms = 30 * 1000,
        .sync_lot = 4000,
        .tombstone_ms = 30 * 1000,
        .events_keep = 10000,
        .events_age_ms = INT64_C(30) * 24 * 3600 * 1000,
        .traffic_keep_ms = INT64_C(24) * 3600 * 1000,
        .traffic_jobs = 20000,
        .trace_level = 7,
        .job_ca = "yes",
    };
    for (uint32_t vni = 1024; vni <= UINT16_MAX; vni++)
        idset_add(&config->vni_pool, (uint16_t)vni);
}
