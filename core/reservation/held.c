/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/held.h"

#include "base/memory.h"
#include "core/reservation/record.h"

#include <assert.h>
#include <stdlib.h>

enum { SLOTS_FIRST = 64, TIMES_FREE = 3, POOL_SHARE = 16 };

void held_release(struct held *held)
{
    free(held->slots);
    *held = (struct held){0};
}

/* Where the user's slot is when none stands in the way. */
static size_t home_of(const struct held *held, uint32_t uid)
{
    assert(held->slot_count > 0);
    return uid * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (held->slot_count - 1);
}

static size_t next_slot(const struct held *held, size_t at)
{
    assert(at < held->slot_count);
    return (at + 1) & (held->slot_count - 1);
}

/* His slot, or the free one where it would be. */
static size_t find_slot(const struct held *held, uint32_t uid)
{
    assert(held->used < held->slot_count);
    size_t at = home_of(held, uid);
    while (held->slots[at].count > 0 && held->slots[at].uid != uid)
        at = next_slot(held, at);
    return at;
}

static void grow_held(struct held *held)
{
    assert(held->used * 2 >= held->slot_count);
    const struct held old = *held;
    held->slot_count = old.slot_count == 0 ? SLOTS_FIRST : old.slot_count * 2;
    held->slots = memory_zeroed(held->slot_count * sizeof *held->slots);
    for (size_t i = 0; i < old.slot_count; i++) {
        if (old.slots[i].count > 0)
            held->slots[find_slot(held, old.slots[i].uid)] = old.slots[i];
    }
    free(old.slots);
}

void held_add(struct held *held, uint32_t uid, uint32_t count)
{
    if (uid == UID_UNKNOWN || count == 0)
        return;
    if (held->used * 2 >= held->slot_count)
        grow_held(held);
    struct held_user *user = &held->slots[find_slot(held, uid)];
    held->used += user->count == 0;
    user->uid = uid;
    user->count += count;
    assert(held->used * 2 <= held->slot_count);
}

/* Those behind the hole that would not be found any more move up. */
static void close_hole(struct held *held, size_t hole)
{
    assert(held->slots[hole].count == 0);
    const size_t mask = held->slot_count - 1;
    for (size_t at = next_slot(held, hole); held->slots[at].count > 0; at = next_slot(held, at)) {
        const size_t home = home_of(held, held->slots[at].uid);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        held->slots[hole] = held->slots[at];
        held->slots[at].count = 0;
        hole = at;
    }
}

void held_remove(struct held *held, uint32_t uid, uint32_t count)
{
    if (uid == UID_UNKNOWN || count == 0)
        return;
    const size_t at = find_slot(held, uid);
    assert(held->slots[at].count >= count);
    held->slots[at].count -= count;
    if (held->slots[at].count > 0)
        return;
    held->used--;
    close_hole(held, at);
}

uint32_t held_by(const struct held *held, uint32_t uid)
{
    return held->used == 0 ? 0 : held->slots[find_slot(held, uid)].count;
}

uint32_t held_most(const struct held *held, uint32_t *uid)
{
    assert(held->slots || held->slot_count == 0);
    uint32_t most = 0;
    for (size_t i = 0; i < held->slot_count; i++) {
        if (held->slots[i].count <= most)
            continue;
        most = held->slots[i].count;
        if (uid)
            *uid = held->slots[i].uid;
    }
    return most;
}

bool held_too_much(const struct held *held, uint32_t uid, uint32_t available, uint32_t pool)
{
    assert(available <= pool);
    const uint32_t count = held_by(held, uid), bound = TIMES_FREE * available;
    /* A reload may have moved the pool away from what is held. */
    return pool - available > bound && count > bound && count > pool / POOL_SHARE;
}
