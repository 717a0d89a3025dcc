/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inventory/fabricmap.h"

#include <assert.h>
#include <string.h>

/* What differs between two maps of a fabric: as a list that is bounded, and a sum of the rest. */

struct list {
    struct fabric_change *out;
    size_t max, count;
    struct fabric_sum *sum;
};

static void add(struct list *list, enum fabric_change_kind kind, int state, uint32_t low,
                uint32_t high)
{
    assert(list->count <= list->max);
    if (list->count == list->max) {
        list->sum->unlisted[kind]++;
        return;
    }
    list->out[list->count++] = (struct fabric_change){
        .kind = (uint8_t)kind, .state = (uint8_t)state, .low = low, .high = high};
}

/* From or to down: what becomes of a state that is not known is no news. */
static bool turned(int before, int now)
{
    assert(before <= FABRIC_DOWN && now <= FABRIC_DOWN);
    return (before == FABRIC_DOWN) != (now == FABRIC_DOWN);
}

static uint32_t bits(uint64_t mask)
{
    return (uint32_t)__builtin_popcountll(mask);
}

static void compare_switches(const struct fabricmap *old, const struct fabricmap *now,
                             struct list *list)
{
    assert(old && now);
    for (uint32_t place = 0; place < FABRIC_PLACES; place++) {
        const struct fabric_switch *before = fabricmap_switch(old, (uint16_t)place);
        const struct fabric_switch *after = fabricmap_switch(now, (uint16_t)place);
        list->sum->switches_new += after && !before;
        list->sum->switches_gone += before && !after;
        if (before && after && turned(before->state, after->state))
            add(list, after->state == FABRIC_DOWN ? FABRIC_SWITCH_DOWN : FABRIC_SWITCH_UP,
                after->state, place << 18, 0);
    }
}

/* The switch at one of its ends went down, or came up, with it, which tells it all. */
static bool told(const struct fabricmap *old, const struct fabricmap *now,
                 const struct fabric_cable *cable)
{
    const uint32_t ends[] = {cable->low, cable->high};
    assert(cable->low < cable->high);
    for (int i = 0; i < 2; i++) {
        const struct fabric_switch *before = fabricmap_switch(old, dfa_place(ends[i]));
        const struct fabric_switch *after = fabricmap_switch(now, dfa_place(ends[i]));
        if (!before || !after ||
            (turned(before->state, after->state) && !turned(after->state, cable->state)))
            return true;
    }
    return false;
}

/* Both are ordered. */
static void compare_cables(const struct fabricmap *old, const struct fabricmap *now,
                           struct list *list)
{
    size_t before_count, after_count, i = 0, j = 0;
    const struct fabric_cable *before = fabricmap_cables(old, &before_count);
    const struct fabric_cable *after = fabricmap_cables(now, &after_count);
    while (i < before_count || j < after_count) {
        const uint64_t left =
            i < before_count ? (uint64_t)before[i].low << 32 | before[i].high : UINT64_MAX;
        const uint64_t right =
            j < after_count ? (uint64_t)after[j].low << 32 | after[j].high : UINT64_MAX;
        assert(left != UINT64_MAX || right != UINT64_MAX);
        list->sum->cables_gone += left < right;
        list->sum->cables_new += right < left;
        if (left == right && turned(before[i].state, after[j].state) && !told(old, now, &after[j]))
            add(list, after[j].state == FABRIC_DOWN ? FABRIC_CABLE_DOWN : FABRIC_CABLE_UP,
                after[j].state, after[j].low, after[j].high);
        i += left <= right;
        j += right <= left;
    }
}

static void compare_ports(const struct fabric_switch *before, const struct fabric_switch *after,
                          struct list *list)
{
    assert(before->place == after->place);
    list->sum->ports_new += bits(after->ports & ~before->ports);
    list->sum->ports_gone += bits(before->ports & ~after->ports);
    uint64_t changed = (before->down ^ after->down) & before->edge & after->edge;
    if (turned(before->state, after->state)) /* what went down, or came up, with the switch */
        changed &= after->state == FABRIC_DOWN ? ~after->down : after->down;
    for (; changed != 0; changed &= changed - 1) {
        const unsigned port = (unsigned)__builtin_ctzll(changed);
        const int state = (after->down >> port & 1) != 0 ? FABRIC_DOWN : FABRIC_UP;
        add(list, FABRIC_PORT_CHANGED, state, (uint32_t)after->place << 18 | port << 12, 0);
    }
}

bool fabric_sum_empty(const struct fabric_sum *sum)
{
    static const struct fabric_sum none;
    assert(sum);
    return memcmp(sum, &none, sizeof none) == 0;
}

size_t fabricmap_diff(const struct fabricmap *old, const struct fabricmap *now,
                      struct fabric_change *out, size_t max, struct fabric_sum *sum)
{
    struct list list = {.out = out, .max = max, .sum = sum};
    size_t count;
    assert(sum);
    *sum = (struct fabric_sum){0};
    compare_switches(old, now, &list);
    compare_cables(old, now, &list);
    const struct fabric_switch *all = fabricmap_switches(now, &count);
    for (size_t i = 0; i < count; i++) {
        const struct fabric_switch *before = fabricmap_switch(old, all[i].place);
        if (before)
            compare_ports(before, &all[i], &list);
    }
    return list.count;
}
