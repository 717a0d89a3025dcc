/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inventory/topology.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>

struct topology *topology_create(void)
{
    return memory_zeroed(sizeof(struct topology));
}

static struct topology_switch *switch_of(struct topology *topology, uint16_t place)
{
    assert(place < FABRIC_PLACES);
    if (topology->at[place] == 0) {
        topology->switches = memory_room(topology->switches, topology->switch_count,
                                         &topology->switch_capacity, sizeof *topology->switches);
        topology->switches[topology->switch_count++] = (struct topology_switch){.place = place};
        topology->at[place] = (uint16_t)topology->switch_count;
    }
    return &topology->switches[topology->at[place] - 1];
}

void topology_add(struct topology *topology, const struct inventory *inventory, const char *name)
{
    struct inventory_node node;
    uint32_t down = 0;
    assert(topology);
    topology->nodes++;
    if (!inventory_node(inventory, name, &node) || node.count == 0) {
        topology->unplaced_count++;
        nodeset_put(&topology->unplaced, name);
        return;
    }
    for (size_t i = 0; i < node.count; i++) {
        struct topology_switch *s = switch_of(topology, dfa_place(node.nics[i].nic.address));
        s->nics++;
        s->nics_down += node.nics[i].state == FABRIC_DOWN;
        down += node.nics[i].state == FABRIC_DOWN;
        if (i > 0)
            continue;
        s->nodes++;
        nodeset_put(&s->names, name);
    }
    topology->nics += (uint32_t)node.count;
    topology->nics_down += down;
    if (down > 0)
        nodeset_put(&topology->nodes_down, name);
}

static int compare_places(const void *a, const void *b)
{
    const struct topology_switch *left = a, *right = b;
    return (left->place > right->place) - (left->place < right->place);
}

void topology_finish(struct topology *topology)
{
    struct topology_switch *all = topology->switches;
    assert(topology->groups == 0);
    if (topology->switch_count == 0)
        return;
    qsort(all, topology->switch_count, sizeof *all, compare_places);
    for (size_t i = 0; i < topology->switch_count; i++)
        topology->groups +=
            i == 0 || all[i].place / FABRIC_SWITCHES != all[i - 1].place / FABRIC_SWITCHES;
}

void topology_destroy(struct topology *topology)
{
    if (!topology)
        return;
    assert(topology->switch_count <= FABRIC_PLACES);
    for (size_t i = 0; i < topology->switch_count; i++)
        nodeset_release(&topology->switches[i].names);
    nodeset_release(&topology->unplaced);
    nodeset_release(&topology->nodes_down);
    free(topology->switches);
    free(topology);
}
