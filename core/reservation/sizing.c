/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/sizing.h"

#include "core/emit.h"

#include <assert.h>

static int too_few_addresses(const struct core_config *c, struct error *err)
{
    assert(c->total_addresses > 0);
    /* The smallest minimum size that gives one address: s ≥ S·j / M, rounded up. */
    uint64_t jobs_per_fabric = (uint64_t)c->system_nodes * c->sharing;
    uint64_t least = (jobs_per_fabric + c->total_addresses - 1) / c->total_addresses;
    if (least > c->system_nodes)
        return error_set(err, ERROR_INVALID,
                         "%u addresses cannot be shared by %u jobs a node: lower [hwcoll] sharing "
                         "to at most %u",
                         c->total_addresses, c->sharing, c->total_addresses);
    return error_set(
        err, ERROR_INVALID,
        "%u addresses are too few for jobs of %u of %u nodes, %u a node: less than one "
        "each; set [hwcoll] min_nodes to %llu or more",
        c->total_addresses, c->min_nodes, c->system_nodes, c->sharing, (unsigned long long)least);
}

int sizing_addresses(const struct core_config *c, uint32_t *addresses, struct error *err)
{
    assert(addresses);
    *addresses = 0;
    if (c->addresses_per_job > 0) {
        if (c->total_addresses > 0 && c->addresses_per_job > c->total_addresses)
            return error_set(err, ERROR_INVALID,
                             "[hwcoll] addresses_per_job = %u is more than total_addresses = %u",
                             c->addresses_per_job, c->total_addresses);
        *addresses = c->addresses_per_job;
        return 0;
    }
    if (c->min_nodes == 0)
        return error_set(err, ERROR_INVALID,
                         "[hwcoll] addresses_per_job = auto is computed from min_nodes: set "
                         "min_nodes, or give a number");
    if (c->total_addresses == 0 || c->system_nodes == 0 || c->sharing == 0)
        return error_set(err, ERROR_INVALID,
                         "[hwcoll] addresses_per_job = auto needs total_addresses, system_nodes "
                         "and sharing above 0");
    if (c->min_nodes > c->system_nodes)
        return error_set(err, ERROR_INVALID,
                         "[hwcoll] min_nodes = %u is more than system_nodes = %u: no job could be "
                         "eligible",
                         c->min_nodes, c->system_nodes);

    uint64_t each =
        (uint64_t)c->total_addresses * c->min_nodes / ((uint64_t)c->system_nodes * c->sharing);
    if (each == 0)
        return too_few_addresses(c, err);
    *addresses = (uint32_t)each;
    return 0;
}

enum hwcoll_state sizing_decide(const struct core_config *c, enum hwcoll_wish wish,
                                uint32_t node_count, uint32_t profiled, uint32_t *addresses,
                                struct error *err)
{
    assert(wish >= WISH_AUTO && wish <= WISH_REQUIRED);
    *addresses = 0;
    if (wish == WISH_OFF)
        return HWCOLL_OFF;
    if (wish == WISH_AUTO && c->min_nodes == 0) {
        error_set(err, ERROR_REFUSED,
                  "no minimum size is set: only jobs that ask for it get "
                  "hardware collectives");
        return HWCOLL_INELIGIBLE;
    }
    if (c->min_nodes > 0 && node_count < c->min_nodes) {
        error_set(err, ERROR_REFUSED,
                  "the job has %u node%s, hardware collectives need at least %u", node_count,
                  node_count == 1 ? "" : "s", c->min_nodes);
        return HWCOLL_INELIGIBLE;
    }
    if (profiled == 0 && sizing_addresses(c, addresses, err) < 0)
        return HWCOLL_INELIGIBLE;
    if (profiled > 0)
        *addresses = profiled;
    return HWCOLL_WANTED;
}

enum hwcoll_state sizing_limit(const struct core_config *c, uint32_t wanted, uint32_t *addresses,
                               struct error *err)
{
    assert(addresses);
    const bool known = sizing_addresses(c, addresses, err) == 0;
    if (wanted > 0 && (!known || wanted < *addresses))
        *addresses = wanted;
    return *addresses > 0 ? HWCOLL_WANTED : HWCOLL_INELIGIBLE;
}

/* ---- budgets ---- */

/* Each cluster within its own budget, all within what the fabric has (B4, I8). What is being given
 * back still counts: until the fabric manager says so it may be in use. */

static enum budget budget_within(const struct core_use *use, uint64_t limit, uint32_t addresses)
{
    assert(use->leaving <= use->addresses);
    if (limit == 0 || use->addresses + addresses <= limit)
        return BUDGET_NOW;
    return use->addresses - use->leaving + addresses <= limit ? BUDGET_SOON : BUDGET_NONE;
}

static uint64_t limit_of(const struct core *core, const char *cluster)
{
    assert(cluster);
    const struct cluster_config *config = core_cluster_config(core, cluster);
    return config ? config->budget : 0;
}

enum budget core_budget(struct core *core, const char *cluster, uint32_t addresses)
{
    assert(cluster);
    enum budget of_all = budget_within(&core->all_use, core->config.total_addresses, addresses);
    enum budget of_own =
        budget_within(&core_cluster(core, cluster)->use, limit_of(core, cluster), addresses);
    return of_all > of_own ? of_all : of_own;
}

/* How many addresses they have nothing tells: each counts as one of ours would (B4). */
static const char *found_note(struct core *core, const struct core_use *use)
{
    assert(use->found >= use->jobs_found);
    if (use->found == 0)
        return "";
    return core_text(core,
                     "; %llu reservation%s found there count%s among them: see mcastctl status",
                     (unsigned long long)use->found, use->found == 1 ? " that was" : "s that were",
                     use->found == 1 ? "s" : "");
}

const char *core_budget_words(struct core *core, const char *cluster, uint32_t addresses)
{
    assert(cluster);
    const struct core_use *own = &core_cluster(core, cluster)->use;
    uint64_t limit = limit_of(core, cluster);
    if (budget_within(own, limit, addresses) != BUDGET_NOW)
        return core_text(core,
                         "cluster %s has %llu of its %llu multicast addresses in use, %u more are "
                         "not left%s",
                         cluster, (unsigned long long)own->addresses, (unsigned long long)limit,
                         addresses, found_note(core, own));
    return core_text(core, "%llu of %u multicast addresses are in use, %u more are not left%s",
                     (unsigned long long)core->all_use.addresses, core->config.total_addresses,
                     addresses, found_note(core, &core->all_use));
}
