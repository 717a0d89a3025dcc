/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/agenda.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>

void agenda_release(struct agenda *a)
{
    free(a->heap);
    *a = (struct agenda){0};
}

static void place_in_heap(struct agenda *a, uint32_t slot, struct agenda_entry entry)
{
    assert(slot >= 1 && slot < a->capacity);
    a->heap[slot] = entry;
    entry.reservation->agenda_slot = slot;
}

static void sift_up(struct agenda *a, uint32_t slot)
{
    assert(slot >= 1 && slot <= a->count);
    const struct agenda_entry entry = a->heap[slot];
    for (; slot > 1 && a->heap[slot / 2].due_ms > entry.due_ms; slot /= 2)
        place_in_heap(a, slot, a->heap[slot / 2]);
    place_in_heap(a, slot, entry);
}

static void sift_down(struct agenda *a, uint32_t slot)
{
    assert(slot >= 1 && slot <= a->count);
    const struct agenda_entry entry = a->heap[slot];
    for (;;) {
        uint32_t child = slot * 2;
        if (child > a->count)
            break;
        if (child < a->count && a->heap[child + 1].due_ms < a->heap[child].due_ms)
            child++;
        if (a->heap[child].due_ms >= entry.due_ms)
            break;
        place_in_heap(a, slot, a->heap[child]);
        slot = child;
    }
    place_in_heap(a, slot, entry);
}

static void remove_from_heap(struct agenda *a, struct reservation *r)
{
    assert(r->agenda_slot <= a->count && a->heap[r->agenda_slot].reservation == r);
    uint32_t slot = r->agenda_slot;
    const struct agenda_entry last = a->heap[a->count--];
    r->agenda_slot = 0;
    if (last.reservation == r)
        return;
    place_in_heap(a, slot, last);
    sift_up(a, slot);
    sift_down(a, last.reservation->agenda_slot);
}

void agenda_set(struct agenda *a, struct reservation *r, int64_t due_ms)
{
    assert(r->agenda_slot <= a->count);
    if (due_ms == INT64_MAX) {
        if (r->agenda_slot != 0)
            remove_from_heap(a, r);
        return;
    }
    if (r->agenda_slot == 0) {
        a->heap = memory_room(a->heap, a->count + 1, &a->capacity, sizeof *a->heap);
        r->agenda_slot = ++a->count;
    }
    place_in_heap(a, r->agenda_slot, (struct agenda_entry){due_ms, r});
    sift_up(a, r->agenda_slot);
    sift_down(a, r->agenda_slot);
}

const struct agenda_entry *agenda_first(const struct agenda *a)
{
    assert(a->count == 0 || a->heap[1].reservation->agenda_slot == 1);
    return a->count > 0 ? &a->heap[1] : NULL;
}
