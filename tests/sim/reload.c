/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/reload.h"

#include "tests/sim/sim.h"

#include <string.h>

static void apply(struct sim *sim, const struct core_config *changed)
{
    struct error err;
    if (core_config_check(changed, &err) < 0)
        return; /* as the broker does: a bad configuration changes nothing */
    sim->config = *changed;
    jobpoll_distrust(sim);
    edge_configure(sim);
}

static void move_pool(struct sim *sim, struct core_config *changed)
{
    struct rng *rng = &sim->edge.rng;
    uint32_t from = rng_below(rng, 65520), size = 4 + rng_below(rng, 40);
    if (rng_chance(rng, 600)) /* mostly overlapping with what it was */
        from = (uint32_t)idset_next(&sim->config.vni_pool, 0) + rng_below(rng, 20);
    idset_init(&changed->vni_pool);
    for (uint32_t vni = from; vni < from + size && vni <= UINT16_MAX; vni++)
        idset_add(&changed->vni_pool, (uint16_t)vni);
    sim_trace(sim, "broker: the VNI pool is to be %u-%u", from, from + size - 1);
}

static void change_limits(struct sim *sim, struct core_config *changed)
{
    static const uint32_t sizes[] = {0, 1, 2, 64}, calls[] = {1, 2, 16};
    static const int64_t holds[] = {1000, 20000, 60000, 600000};
    struct rng *rng = &sim->edge.rng;
    changed->min_nodes = sizes[rng_below(rng, 4)];
    changed->calls_at_once = calls[rng_below(rng, 3)];
    changed->reserve_timeout_ms = rng_between(rng, 100, 5000);
    if (sim->profile.config.reserve_timeout_ms == RESERVE_TIMEOUT_AUTO && rng_chance(rng, 700))
        changed->reserve_timeout_ms = RESERVE_TIMEOUT_AUTO;
    if (changed->vni_hold_ms >= 0 && rng_chance(rng, 500)) /* of what is quarantined, too */
        changed->vni_hold_ms = holds[rng_below(rng, 4)];
    sim_trace(sim,
              "broker: min_nodes is to be %u, calls at once %u, reserve_timeout %lld ms, hold "
              "%lld ms",
              changed->min_nodes, changed->calls_at_once, (long long)changed->reserve_timeout_ms,
              (long long)changed->vni_hold_ms);
}

/* From waiting for all reports to a time, and back, with launch documents out. */
static void change_hold(struct sim *sim, struct core_config *changed)
{
    static const int64_t holds[] = {1000, 20000, 60000, HOLD_UNTIL_REPORTED};
    changed->vni_hold_ms = holds[rng_below(&sim->edge.rng, 4)];
    sim_trace(sim, "broker: hold is to be %lld ms", (long long)changed->vni_hold_ms);
}

/* A larger budget for one; a smaller one would be overdrawn by what was asked for before. Asked
 * which jobs are active, or no longer; who never syncs must be. */
static void change_cluster(struct sim *sim, struct core_config *changed)
{
    struct rng *rng = &sim->edge.rng;
    uint32_t which = rng_below(rng, changed->cluster_count);
    struct cluster_config *cluster = &changed->clusters[which];
    cluster->budget *= 1 + rng_below(rng, 2);
    cluster->jobpoll = sim->profile.silent[which] || rng_chance(rng, 500);
    if (sim->profile.plugin[which]) {
        cluster->jobpoll = sim->profile.config.clusters[which].jobpoll;
        cluster->limit_refused = !cluster->limit_refused;
    }
    if (sim->profile.relays)
        cluster->relay = !cluster->relay;
    sim_trace(sim, "broker: cluster %s is to have a budget of %u, %s%s", cluster->name,
              cluster->budget, cluster->jobpoll ? "and is to be asked" : "and not to be asked",
              cluster->relay ? ", and is to be relayed" : "");
}

/* Another order of the URLs, or one of them only: the one in use may go. */
static void move_urls(struct sim *sim, struct core_config *changed)
{
    const struct core_config *all = &sim->profile.config;
    uint32_t first = rng_below(&sim->edge.rng, all->fm_url_count);
    changed->fm_url_count = 1 + rng_below(&sim->edge.rng, all->fm_url_count);
    for (uint32_t i = 0; i < changed->fm_url_count; i++)
        strcpy(changed->fm_urls[i], all->fm_urls[(first + i) % all->fm_url_count]);
    sim_trace(sim, "broker: the URLs are to be %u, the first is %s", changed->fm_url_count,
              changed->fm_urls[0]);
}

void reload_profile(struct core_config *config, bool there, uint32_t classes)
{
    config->profiles[0] = (struct profile_config){.name = RELOAD_PROFILE,
                                                  .clusters = UINT64_MAX,
                                                  .vni_count = -1,
                                                  .interconnect = -1,
                                                  .classes = classes};
    config->profile_count = there;
}

/* From dice of its own, so that all else is as without. */
static void change_profile(struct sim *sim, struct core_config *changed)
{
    struct rng rng;
    rng_init_for(&rng, sim->profile.seed, "profiles", sim->now_ms);
    const uint32_t classes = rng_chance(&rng, 500) ? TC_BEST_EFFORT : TC_LOW_LATENCY;
    reload_profile(changed, rng_chance(&rng, 700), classes);
}

static void reload(struct sim *sim, void *what, uint64_t mark)
{
    (void)what, (void)mark;
    if (!fault_possible(&sim->faults, FAULT_RECONFIGURE))
        return;
    struct core_config changed = sim->config;
    uint32_t what_changes = rng_below(&sim->edge.rng, 12);
    if (sim->profile.config.vni_hold_ms < 0 && rng_chance(&sim->edge.rng, 400)) {
        change_hold(sim, &changed);
    } else if (what_changes < 6) {
        move_pool(sim, &changed);
    } else if (what_changes == 6 && sim->profile.config.fm_url_count > 0) {
        move_urls(sim, &changed);
    } else if (what_changes < 9) {
        change_limits(sim, &changed);
    } else if (what_changes < 11) {
        change_cluster(sim, &changed);
    } else {
        changed.fm_present = !changed.fm_present && sim->profile.config.fm_present;
        sim_trace(sim, "broker: %s fabric manager is to be configured",
                  changed.fm_present ? "a" : "no");
    }
    change_profile(sim, &changed);
    fault_count(&sim->faults, FAULT_RECONFIGURE);
    apply(sim, &changed);
}

void reload_storm(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->profile.reloads; i++)
        sim_later(sim, rng_between(&sim->edge.rng, 0, sim->profile.storm_ms), reload, NULL, 0);
}

void reload_calm(struct sim *sim)
{
    struct core_config changed = sim->config;
    changed.fm_present = sim->profile.config.fm_present;
    reload_profile(&changed, true, TC_BEST_EFFORT);
    if (changed.fm_present != sim->config.fm_present || sim->config.profile_count == 0)
        apply(sim, &changed);
}
