/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/budget.h"

#include "core/apply.h"
#include "core/effects.h"
#include "core/state.h"

#include <assert.h>

/* Each cluster within its own budget, all within what the fabric has (B4, I8). What is being given
 * back still counts: until the fabric manager says so it may be in use. */

struct usage {
    uint64_t limit, used, leaving, found;
};

static enum budget budget_within(const struct usage *usage, uint32_t addresses)
{
    assert(usage->leaving <= usage->used);
    if (usage->limit == 0 || usage->used + addresses <= usage->limit)
        return BUDGET_NOW;
    return usage->used - usage->leaving + addresses <= usage->limit ? BUDGET_SOON : BUDGET_NONE;
}

static struct usage usage_of_all(const struct core *core)
{
    return (struct usage){core->config.total_addresses, core->all.addresses, core->all.leaving,
                          core->all.found};
}

static struct usage usage_of_cluster(struct core *core, const char *name)
{
    assert(name != NULL);
    const struct cluster_config *config = core_cluster_config(core, name);
    const struct cluster *cluster = core_cluster(core, name);
    return (struct usage){config != NULL ? config->budget : 0, cluster->use.addresses,
                          cluster->use.leaving, cluster->use.found};
}

enum budget core_budget(struct core *core, const char *cluster, uint32_t addresses)
{
    assert(cluster != NULL);
    struct usage all = usage_of_all(core), own = usage_of_cluster(core, cluster);
    enum budget of_all = budget_within(&all, addresses), of_own = budget_within(&own, addresses);
    return of_all > of_own ? of_all : of_own;
}

/* How many addresses they have nothing tells: each counts as one of ours would (B4). */
static const char *found_note(struct core *core, const struct usage *usage)
{
    if (usage->found == 0)
        return "";
    return core_text(core,
                     "; %llu reservation%s found there count%s among them: see mcastctl status",
                     (unsigned long long)usage->found,
                     usage->found == 1 ? " that was" : "s that were", usage->found == 1 ? "s" : "");
}

const char *core_budget_words(struct core *core, const char *cluster, uint32_t addresses)
{
    assert(cluster != NULL);
    struct usage all = usage_of_all(core), own = usage_of_cluster(core, cluster);
    if (budget_within(&own, addresses) != BUDGET_NOW)
        return core_text(core,
                         "cluster %s has %llu of its %llu multicast addresses in use, %u more are "
                         "not left%s",
                         cluster, (unsigned long long)own.used, (unsigned long long)own.limit,
                         addresses, found_note(core, &own));
    return core_text(core, "%llu of %llu multicast addresses are in use, %u more are not left%s",
                     (unsigned long long)all.used, (unsigned long long)all.limit, addresses,
                     found_note(core, &all));
}
