/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inventory/announce.h"

#include "core/core.h"
#include "core/inventory/concern.h"
#include "core/emit.h"

#include <assert.h>

static const struct {
    enum event_kind event;
    const char *words; /* of one that is not listed */
} kinds[FABRIC_CHANGE_KINDS] = {
    [FABRIC_SWITCH_DOWN] = {EVENT_SWITCH_DOWN, "switches down"},
    [FABRIC_SWITCH_UP] = {EVENT_SWITCH_UP, "switches up"},
    [FABRIC_CABLE_DOWN] = {EVENT_CABLE_DOWN, "cables down"},
    [FABRIC_CABLE_UP] = {EVENT_CABLE_UP, "cables up"},
    [FABRIC_PORT_CHANGED] = {EVENT_PORT_CHANGED, "NICs' ports changed"},
};

static const char *describe(struct core *core, const struct fabricmap *map,
                            const struct fabric_change *change)
{
    char low[FABRIC_ADDRESS_SIZE], high[FABRIC_ADDRESS_SIZE];
    const char *state = fabric_state_word(change->state);
    if (change->kind == FABRIC_SWITCH_DOWN || change->kind == FABRIC_SWITCH_UP) {
        const struct fabric_switch *s = fabricmap_switch(map, dfa_place(change->low));
        assert(s);
        fabric_switch_format(low, s->place);
        const bool named = strcmp(low, s->name) != 0;
        return core_text(core, "switch %s%s%s%s is %s", low, named ? " (" : "",
                         named ? s->name : "", named ? ")" : "", state);
    }
    fabric_port_format(low, change->low);
    if (change->kind == FABRIC_PORT_CHANGED)
        return core_text(core, "port %s, of the NIC with address 0x%05x, is %s", low,
                         change->low >> 12, state);
    fabric_port_format(high, change->high);
    return core_text(core, "cable %s-%s is %s", low, high, state);
}

static void announce_sum(struct core *core, const struct fabric_sum *sum)
{
    const struct {
        uint32_t count;
        const char *words;
    } parts[] = {
        {sum->switches_new, "switches new"}, {sum->switches_gone, "switches gone"},
        {sum->cables_new, "cables new"},     {sum->cables_gone, "cables gone"},
        {sum->ports_new, "ports new"},       {sum->ports_gone, "ports gone"},
    };
    const char *text = "";
    for (int kind = 0; kind < FABRIC_CHANGE_KINDS; kind++)
        if (sum->unlisted[kind] > 0)
            text = core_text(core, "%s%s%u more %s", text, *text ? ", " : "", sum->unlisted[kind],
                             kinds[kind].words);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].count > 0)
            text = core_text(core, "%s%s%u %s", text, *text ? ", " : "", parts[i].count,
                             parts[i].words);
    assert(*text);
    core_publish_cluster(core, EVENT_FABRIC_CHANGED, NULL, text);
}

void core_fabric(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_FABRIC && event->u.fabric.map);
    for (size_t i = 0; i < event->u.fabric.count; i++) {
        const struct fabric_change *change = &event->u.fabric.changes[i];
        const char *words = describe(core, event->u.fabric.map, change);
        core_publish_cluster(core, kinds[change->kind].event, NULL, words);
        concern_fabric(core, change, words);
    }
    if (!fabric_sum_empty(event->u.fabric.sum))
        announce_sum(core, event->u.fabric.sum);
}
