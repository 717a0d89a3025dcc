/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/nodeset.h"

#include "base/memory.h"
#include "base/names.h"
#include "base/nodelist.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_FIRST = 1024, TEXT_FIRST = 8192 };

struct nodeset {
    char *text; /* the names, each with its NUL */
    size_t used, size;
    uint32_t
        *slots; /* where in text, plus 1; 0: empty. A power of two, never more than half full */
    uint32_t slot_count, count;
};

static uint32_t *slot_of(const struct nodeset *set, const char *name)
{
    assert(set->count * 2 <= set->slot_count);
    uint32_t at = name_hash("", name) & (set->slot_count - 1);
    while (set->slots[at] != 0 && strcmp(set->text + set->slots[at] - 1, name) != 0)
        at = (at + 1) & (set->slot_count - 1);
    return &set->slots[at];
}

static void make_slots(struct nodeset *set, uint32_t slot_count)
{
    assert((slot_count & (slot_count - 1)) == 0 && slot_count > set->count * 2);
    free(set->slots);
    set->slots = memory_zeroed(slot_count * sizeof *set->slots);
    set->slot_count = slot_count;
    for (size_t at = 0; at < set->used; at += strlen(set->text + at) + 1)
        *slot_of(set, set->text + at) = (uint32_t)at + 1;
}

static void add_node(void *arg, const char *name)
{
    assert(arg != NULL && name != NULL);
    struct nodeset *set = arg;
    size_t length = strlen(name);
    if (set->count * 2 >= set->slot_count)
        make_slots(set, set->slot_count * 2);
    uint32_t *where = slot_of(set, name);
    if (*where != 0)
        return;
    while (set->size - set->used <= length) {
        set->size *= 2;
        set->text = memory_resized(set->text, set->size, 1);
    }
    memcpy(set->text + set->used, name, length + 1);
    *where = (uint32_t)set->used + 1;
    set->used += length + 1;
    set->count++;
}

struct nodeset *nodeset_create(const char *list)
{
    assert(list != NULL);
    struct nodeset *set = memory_zeroed(sizeof *set);
    set->size = TEXT_FIRST;
    set->text = memory_zeroed(set->size);
    make_slots(set, SLOTS_FIRST);
    nodelist_each(list, add_node, set);
    return set;
}

bool nodeset_contains(const struct nodeset *set, const char *node)
{
    assert(node != NULL);
    return *slot_of(set, node) != 0;
}

void nodeset_destroy(struct nodeset *set)
{
    if (set == NULL)
        return;
    free(set->text);
    free(set->slots);
    free(set);
}
