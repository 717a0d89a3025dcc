/* SPDX-License-Identifier: Apache-2.0 */
#include "core/interconnect/interconnect.h"
#include "core/requests/requests.h"
#include "core/reservation/sizing.h"
#include "core/reservation/vnipool.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* What a job may ask for (P3): the same for who asks beforehand (core_options) and for its reserve.
 */

const struct profile_config *core_profile(const struct core *core, const char *cluster,
                                          uint32_t index)
{
    const struct core_config *config = &core->config;
    const struct cluster_config *of = core_cluster_config(core, cluster);
    assert(config->profile_count <= PROFILES_MAX);
    for (uint32_t i = 0; of && i < config->profile_count; i++) {
        const struct profile_config *profile = &config->profiles[i];
        if ((profile->clusters >> (of - config->clusters) & 1) && index-- == 0)
            return profile;
    }
    return NULL;
}

static const struct profile_config *find_profile(const struct core *core, const char *cluster,
                                                 const char *name)
{
    const struct profile_config *profile = NULL;
    assert(name);
    for (uint32_t i = 0; (profile = core_profile(core, cluster, i)); i++) {
        if (strcmp(profile->name, name) == 0)
            break;
    }
    return profile;
}

/* Its words name those that there are: of another cluster's it says nothing. */
static const char *refuse_profile(struct core *core, const struct reserve_request *q)
{
    char names[400] = "";
    size_t used = 0;
    const struct profile_config *profile;
    assert(q->profile);
    for (uint32_t i = 0; (profile = core_profile(core, q->cluster, i)) && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 profile->name);
    return core_text(core, "there is no profile '%.64s' for jobs of %s; %s%s", q->profile,
                     q->cluster, used > 0 ? "there is: " : "there is none: leave it out", names);
}

const char *profile_resolve(struct core *core, struct reserve_request *q)
{
    if (!q->profile)
        return NULL;
    const struct profile_config *profile = find_profile(core, q->cluster, q->profile);
    if (!profile)
        return refuse_profile(core, q);
    if (q->vni_count < 0)
        q->vni_count = profile->vni_count;
    if (q->interconnect < 0)
        q->interconnect = profile->interconnect;
    if (q->wish == 0)
        q->wish = (enum hwcoll_wish)profile->wish;
    if (q->traffic_classes == 0)
        q->traffic_classes = (uint8_t)profile->classes;
    q->limit = profile->addresses;
    return NULL;
}

bool core_options(const struct core *core, const char *cluster, struct core_options *out)
{
    const struct core_config *config = &core->config;
    const struct cluster_config *of = core_cluster_config(core, cluster);
    const uint32_t usable = vnipool_usable(&config->vni_pool);
    assert(usable <= config->vni_pool.count);
    assert(config->profile_count <= PROFILES_MAX);
    *out = (struct core_options){0};
    if (!of)
        return false;
    *out = (struct core_options){
        .interconnect = of->interconnect,
        .relay = of->relay,
        .vnis = config->vni_per_job,
        .vnis_single_node = config->vni_single_node ? config->vni_per_job : 0,
        .vnis_max = usable < VNI_PER_JOB_MAX ? usable : VNI_PER_JOB_MAX,
        .classes = config->classes_default,
        .classes_allowed = config->classes_allowed,
        .min_nodes = config->min_nodes,
        .budget = of->budget,
        .total = config->total_addresses,
    };
    if (of->interconnect != INTERCONNECT_SLINGSHOT) {
        out->vnis = out->vnis_single_node = out->vnis_max = 0;
        out->classes = out->classes_allowed = 0;
        (void)error_set(&out->without, ERROR_REFUSED, "the cluster's interconnect is %s",
                        interconnect_word(of->interconnect));
    } else if (!config->fm_present)
        (void)error_set(&out->without, ERROR_REFUSED, "no fabric manager is configured");
    else if (sizing_addresses(config, &out->addresses, &out->without) == 0)
        out->hwcoll = true;
    return true;
}
