/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inventory/fabricmap.h"

#include "base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fabricmap {
    struct fabric_switch *switches;
    struct fabric_cable *cables;
    size_t switch_count, cable_count;
    struct fabric_counts counts;
    uint16_t at[FABRIC_PLACES]; /* 1 + the index of the switch at the place; 0: none */
};

const char *fabric_state_word(int state)
{
    static const char *const words[] = {"unknown", "up", "down"};
    assert(state >= FABRIC_UNKNOWN && state <= FABRIC_DOWN);
    return words[state];
}

void fabric_switch_format(char out[static FABRIC_ADDRESS_SIZE], uint16_t place)
{
    assert(place < FABRIC_PLACES);
    (void)snprintf(out, FABRIC_ADDRESS_SIZE, "g%us%u", place / (unsigned)FABRIC_SWITCHES,
                   place % (unsigned)FABRIC_SWITCHES);
}

void fabric_port_format(char out[static FABRIC_ADDRESS_SIZE], uint32_t dfa)
{
    fabric_switch_format(out, dfa_place(dfa));
    size_t length = strlen(out);
    assert(length < FABRIC_ADDRESS_SIZE);
    (void)snprintf(out + length, FABRIC_ADDRESS_SIZE - length, "p%u", dfa_port(dfa));
}

void fabric_read_release(struct fabric_read *read)
{
    assert(read);
    free(read->switches.all);
    free(read->ports.all);
    free(read->cables.all);
    *read = (struct fabric_read){0};
}

/* ---- making one ---- */

static int compare_places(const void *a, const void *b)
{
    const struct fabric_switch *left = a, *right = b;
    return (left->place > right->place) - (left->place < right->place);
}

static int compare_names(const void *a, const void *b)
{
    const struct fabric_port *left = a, *right = b;
    return (left->name > right->name) - (left->name < right->name);
}

static int compare_cables(const void *a, const void *b)
{
    const struct fabric_cable *left = a, *right = b;
    const uint64_t l = (uint64_t)left->low << 32 | left->high;
    const uint64_t r = (uint64_t)right->low << 32 | right->high;
    return (l > r) - (l < r);
}

static int take_switches(struct fabricmap *map, struct fabric_switches_read *read,
                         struct error *err)
{
    char name[FABRIC_ADDRESS_SIZE];
    if (read->count == 0)
        return error_set(err, ERROR_CORRUPT, "there is no switch");
    qsort(read->all, read->count, sizeof *read->all, compare_places);
    for (size_t i = 1; i < read->count; i++) {
        if (read->all[i].place != read->all[i - 1].place)
            continue;
        fabric_switch_format(name, read->all[i].place);
        return error_set(err, ERROR_CORRUPT, "there are two switches %s", name);
    }
    assert(read->count <= FABRIC_PLACES);
    map->switches = memory_resized(NULL, read->count, sizeof *map->switches);
    memcpy(map->switches, read->all, read->count * sizeof *map->switches);
    map->switch_count = read->count;
    for (size_t i = 0; i < read->count; i++) {
        const struct fabric_switch *s = &map->switches[i];
        map->at[s->place] = (uint16_t)(i + 1);
        map->counts.switches_down += s->state == FABRIC_DOWN;
        map->counts.groups += i == 0 || s->place / FABRIC_SWITCHES != s[-1].place / FABRIC_SWITCHES;
    }
    map->counts.switches = (uint32_t)read->count;
    return 0;
}

static struct fabric_switch *switch_at(const struct fabricmap *map, uint16_t place)
{
    assert(place < FABRIC_PLACES);
    return map->at[place] == 0 ? NULL : &map->switches[map->at[place] - 1];
}

static int take_ports(struct fabricmap *map, const struct fabric_ports_read *read,
                      struct error *err)
{
    char name[FABRIC_ADDRESS_SIZE];
    assert(map->switches);
    for (size_t i = 0; i < read->count; i++) {
        const struct fabric_port *port = &read->all[i];
        struct fabric_switch *s = switch_at(map, dfa_place(port->dfa));
        const uint64_t bit = UINT64_C(1) << dfa_port(port->dfa);
        fabric_port_format(name, port->dfa);
        if (!s)
            return error_set(err, ERROR_CORRUPT, "port %s is of no switch that is listed", name);
        if ((s->ports & bit) != 0)
            return error_set(err, ERROR_CORRUPT, "there are two ports %s", name);
        s->ports |= bit;
        s->edge |= port->edge ? bit : 0;
        s->up |= port->state == FABRIC_UP ? bit : 0;
        s->down |= port->state == FABRIC_DOWN ? bit : 0;
        map->counts.edge_ports += port->edge;
        map->counts.edge_ports_down += port->edge && port->state == FABRIC_DOWN;
    }
    map->counts.ports = (uint32_t)read->count;
    return 0;
}

static int take_cables(struct fabricmap *map, struct fabric_read *read, struct error *err)
{
    struct fabric_ports_read *ports = &read->ports;
    const struct fabric_cables_read *cables = &read->cables;
    assert(!map->cables);
    if (cables->count == 0)
        return 0;
    qsort(ports->all, ports->count, sizeof *ports->all, compare_names);
    map->cables = memory_zeroed(cables->count * sizeof *map->cables);
    map->cable_count = cables->count;
    for (size_t i = 0; i < cables->count; i++) {
        uint32_t ends[2];
        for (int end = 0; end < 2; end++) {
            const struct fabric_port wanted = {.name = cables->all[i].names[end]};
            const struct fabric_port *port =
                bsearch(&wanted, ports->all, ports->count, sizeof wanted, compare_names);
            if (!port)
                return error_set(err, ERROR_CORRUPT,
                                 "a link has an end that is none of the %zu ports listed",
                                 ports->count);
            ends[end] = port->dfa;
        }
        map->cables[i] = (struct fabric_cable){.low = ends[0] < ends[1] ? ends[0] : ends[1],
                                               .high = ends[0] < ends[1] ? ends[1] : ends[0],
                                               .state = cables->all[i].state};
        map->counts.cables_down += cables->all[i].state == FABRIC_DOWN;
    }
    map->counts.cables = (uint32_t)cables->count;
    qsort(map->cables, map->cable_count, sizeof *map->cables, compare_cables);
    for (size_t i = 1; i < map->cable_count; i++)
        if (compare_cables(&map->cables[i - 1], &map->cables[i]) == 0)
            return error_set(err, ERROR_CORRUPT, "there are two links between the same ports");
    return 0;
}

struct fabricmap *fabricmap_create(struct fabric_read *read, struct error *err)
{
    assert(read);
    struct fabricmap *map = memory_zeroed(sizeof *map);
    if (take_switches(map, &read->switches, err) == 0 && take_ports(map, &read->ports, err) == 0 &&
        take_cables(map, read, err) == 0)
        return map;
    fabricmap_destroy(map);
    return NULL;
}

void fabricmap_destroy(struct fabricmap *map)
{
    if (!map)
        return;
    assert(map->switch_count <= FABRIC_PLACES);
    free(map->switches);
    free(map->cables);
    free(map);
}

/* ---- looking ---- */

const struct fabric_switch *fabricmap_switches(const struct fabricmap *map, size_t *count)
{
    assert(map);
    *count = map->switch_count;
    return map->switches;
}

const struct fabric_cable *fabricmap_cables(const struct fabricmap *map, size_t *count)
{
    assert(map);
    *count = map->cable_count;
    return map->cables;
}

const struct fabric_switch *fabricmap_switch(const struct fabricmap *map, uint16_t place)
{
    assert(map);
    return switch_at(map, place);
}

const struct fabric_switch *fabricmap_group(const struct fabricmap *map, unsigned group,
                                            size_t *count)
{
    const struct fabric_switch *first = NULL;
    assert(group < FABRIC_GROUPS);
    *count = 0;
    for (unsigned i = 0; i < FABRIC_SWITCHES; i++) {
        const struct fabric_switch *s = switch_at(map, (uint16_t)(group * FABRIC_SWITCHES + i));
        first = first ? first : s;
        *count += s != NULL;
    }
    return first;
}

/* Of a port of a switch, whatever the state of the switch is. */
static enum fabric_state port_state(const struct fabric_switch *s, uint64_t bit)
{
    assert((s->up & s->down) == 0);
    return (s->down & bit) != 0 ? FABRIC_DOWN : (s->up & bit) != 0 ? FABRIC_UP : FABRIC_UNKNOWN;
}

int fabricmap_edge(const struct fabricmap *map, uint32_t dfa)
{
    assert(map);
    const struct fabric_switch *s = switch_at(map, dfa_place(dfa));
    const uint64_t bit = UINT64_C(1) << dfa_port(dfa);
    if (!s || (s->edge & bit) == 0)
        return -1;
    return (int)(s->state == FABRIC_DOWN ? FABRIC_DOWN : port_state(s, bit));
}

const struct fabric_counts *fabricmap_counts(const struct fabricmap *map)
{
    assert(map);
    return &map->counts;
}

size_t fabricmap_bytes(const struct fabricmap *map)
{
    assert(map);
    return sizeof *map + map->switch_count * sizeof *map->switches +
           map->cable_count * sizeof *map->cables;
}
