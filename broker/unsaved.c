/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/unsaved.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROOM_MIN = 256,   /* a busy broker's batch */
    ROOM_KEPT = 4096, /* more is only needed after a large sync */
};

/* Numbers come one after the other: their low bits spread them. */
static uint64_t *slot_of(const struct unsaved *unsaved, uint64_t number)
{
    size_t at = (size_t)number & (unsaved->room - 1);
    while (unsaved->slots[at] != 0 && unsaved->slots[at] != number)
        at = (at + 1) & (unsaved->room - 1);
    return &unsaved->slots[at];
}

static void grow_slots(struct unsaved *unsaved)
{
    struct unsaved larger = {.room = unsaved->room > 0 ? unsaved->room * 2 : ROOM_MIN};
    larger.slots = memory_zeroed(larger.room * sizeof *larger.slots);
    for (size_t i = 0; i < unsaved->room; i++)
        if (unsaved->slots[i] != 0)
            *slot_of(&larger, unsaved->slots[i]) = unsaved->slots[i];
    larger.count = unsaved->count;
    free(unsaved->slots);
    *unsaved = larger;
}

void unsaved_add(struct unsaved *unsaved, uint64_t number)
{
    assert(number > 0);
    if (unsaved->count >= unsaved->room / 2)
        grow_slots(unsaved);
    uint64_t *slot = slot_of(unsaved, number);
    unsaved->count += *slot == 0;
    *slot = number;
}

bool unsaved_has(const struct unsaved *unsaved, uint64_t number)
{
    return unsaved->count > 0 && *slot_of(unsaved, number) == number;
}

void unsaved_clear(struct unsaved *unsaved)
{
    if (unsaved->room > ROOM_KEPT)
        unsaved_release(unsaved);
    else if (unsaved->count > 0)
        memset(unsaved->slots, 0, unsaved->room * sizeof *unsaved->slots);
    unsaved->count = 0;
}

void unsaved_release(struct unsaved *unsaved)
{
    free(unsaved->slots);
    *unsaved = (struct unsaved){0};
}
