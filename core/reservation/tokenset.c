/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/tokenset.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>

enum { SLOTS_FIRST = 64 };

void tokenset_release(struct tokenset *set)
{
    free(set->slots);
    *set = (struct tokenset){0};
}

static uint64_t hash_token(struct secret token)
{
    assert(!secret_none(token));
    uint64_t hash = hash_text(HASH_BEGIN, secret_expose(token));
    return hash ^ hash >> 32;
}

uint64_t token_proof(struct secret token)
{
    return secret_none(token) ? 0 : hash_token(token) >> 1 | 1;
}

static size_t next_slot(const struct tokenset *set, size_t at)
{
    assert(at < set->slot_count);
    return (at + 1) & (set->slot_count - 1);
}

static void place_token(struct tokenset *set, struct token_slot slot)
{
    assert(set->count < set->slot_count);
    size_t at = slot.hash & (set->slot_count - 1);
    while (set->slots[at].owner)
        at = next_slot(set, at);
    set->slots[at] = slot;
}

static void grow_tokenset(struct tokenset *set)
{
    assert(set->count * 2 >= set->slot_count);
    struct tokenset old = *set;
    set->slot_count = old.slot_count == 0 ? SLOTS_FIRST : old.slot_count * 2;
    set->slots = memory_zeroed(set->slot_count * sizeof *set->slots);
    for (size_t i = 0; i < old.slot_count; i++) {
        if (old.slots[i].owner)
            place_token(set, old.slots[i]);
    }
    free(old.slots);
}

void tokenset_add(struct tokenset *set, const struct reservation *r)
{
    assert(set->count <= set->slot_count / 2);
    if (secret_none(r->token))
        return;
    if (set->count * 2 >= set->slot_count)
        grow_tokenset(set);
    place_token(set, (struct token_slot){hash_token(r->token), r});
    set->count++;
}

/* Those behind the hole that would not be found any more move up. */
static void close_hole(struct tokenset *set, size_t hole)
{
    assert(set->slots[hole].owner);
    size_t mask = set->slot_count - 1;
    for (size_t at = next_slot(set, hole); set->slots[at].owner; at = next_slot(set, at)) {
        size_t home = set->slots[at].hash & mask;
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        set->slots[hole] = set->slots[at];
        hole = at;
    }
    set->slots[hole].owner = NULL;
}

void tokenset_remove(struct tokenset *set, const struct reservation *r)
{
    if (secret_none(r->token))
        return;
    assert(set->count > 0);
    size_t at = hash_token(r->token) & (set->slot_count - 1);
    while (set->slots[at].owner != r) {
        assert(set->slots[at].owner);
        at = next_slot(set, at);
    }
    close_hole(set, at);
    set->count--;
}

const struct reservation *tokenset_find(const struct tokenset *set, struct secret token)
{
    assert(set->count <= set->slot_count / 2);
    if (set->count == 0 || secret_none(token))
        return NULL;
    uint64_t hash = hash_token(token);
    for (size_t at = hash & (set->slot_count - 1); set->slots[at].owner; at = next_slot(set, at)) {
        if (set->slots[at].hash == hash && secret_equal(set->slots[at].owner->token, token))
            return set->slots[at].owner;
    }
    return NULL;
}
