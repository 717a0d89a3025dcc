/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/enginestate.h"

#include "broker/clock.h"

#include <string.h>

/* What can be seen of an engine. */

const char *broker_role_word(enum broker_role role)
{
    static const char *const words[] = {"starting", "leader", "standby"};
    return words[role];
}

const struct core *engine_core(const struct engine *engine)
{
    return engine->core;
}

struct inventory engine_inventory(const struct engine *engine, struct inventory_facts *facts)
{
    *facts = (struct inventory_facts){.error = ""};
    if (!engine->inventory)
        return (struct inventory){.file = engine->options.config->nicbook};
    inventory_facts(engine->inventory, facts);
    struct inventory inventory = inventory_now(engine->inventory);
    inventory.nodes = &engine->reports;
    return inventory;
}

int64_t engine_now_ms(const struct engine *engine)
{
    return clock_now_ms(engine->clock_offset_ns);
}

struct leadership *engine_leadership(const struct engine *engine)
{
    return engine->options.leadership;
}

enum broker_role engine_role(const struct engine *engine)
{
    const struct leadership_facts *facts = leadership_facts(engine->options.leadership);
    return engine->role == ROLE_STARTING && facts && facts->phase == LEADER_STANDBY ? ROLE_STANDBY
                                                                                    : engine->role;
}

const char *engine_storage_fault(const struct engine *engine)
{
    const struct journal_counters *counters =
        engine->journal ? journal_counters(engine->journal) : NULL;
    return counters && counters->failing ? counters->error.text : NULL;
}

void engine_counters(const struct engine *engine, struct engine_counters *out)
{
    static const struct journal_counters no_commits = {.sizes.scale = HISTOGRAM_SIZES};
    static const struct fabric_counters no_calls;
    const struct journal_counters *counters =
        engine->journal ? journal_counters(engine->journal) : &no_commits;
    *out = (struct engine_counters){
        .role = engine_role(engine),
        .leadership = leadership_facts(engine->options.leadership),
        .commits = counters->commits,
        .commit_failures = counters->commit_failures,
        .records = counters->records,
        .steps = engine->steps,
        .unsaved = engine->journal ? journal_unsaved(engine->journal) : 0,
        .storage_failing = counters->failing,
        .storage_failing_ms = counters->failing_ms,
        .commit_times = &counters->times,
        .commit_sizes = &counters->sizes,
        .fm = engine->fabric ? fabric_counters(engine->fabric) : &no_calls,
        .loop_stall = &engine->turn.stall,
        .loop_stall_us_peak = turn_peak_us(&engine->turn),
        .loop_cpu_us_peak = turn_cpu_peak_us(&engine->turn),
        .started_ms = engine->started_ms,
    };
    memcpy(out->storage_error, counters->error.text, sizeof out->storage_error);
    if (engine->fabric)
        fabric_transport(engine->fabric, &out->fabric);
    const struct inventory inventory = engine_inventory(engine, &out->inventory);
    if (inventory.map)
        out->fabric_parts = *fabricmap_counts(inventory.map);
}
