#include "client/alarms.h"

#include <assert.h>
#include <stdlib.h>

bool alarms_reserve(struct alarms *alarms, size_t count)
{
    if (count < alarms->room)
        return true;
    size_t room = count * 2 + 1;
    struct alarm **grown = realloc(alarms->heap, room * sizeof(*grown));
    if (!grown)
        return false;
    alarms->heap = grown;
    alarms->room = room;
    return true;
}

void alarms_release(struct alarms *alarms)
{
    free(alarms->heap);
    *alarms = (struct alarms){0};
}

static void put(struct alarms *alarms, struct alarm *alarm, size_t place)
{
    alarms->heap[place] = alarm;
    alarm->place = place;
}

/* Moves the alarm from a place that is free to where it belongs. */
static void settle(struct alarms *alarms, struct alarm *alarm, size_t place)
{
    struct alarm **heap = alarms->heap;
    while (place > 1 && alarm->due_ms < heap[place / 2]->due_ms) {
        put(alarms, heap[place / 2], place);
        place /= 2;
    }
    for (size_t child; (child = place * 2) <= alarms->count; place = child) {
        if (child < alarms->count && heap[child + 1]->due_ms < heap[child]->due_ms)
            child++;
        if (alarm->due_ms <= heap[child]->due_ms)
            break;
        put(alarms, heap[child], place);
    }
    put(alarms, alarm, place);
}

void alarms_set(struct alarms *alarms, struct alarm *alarm, int64_t due_ms)
{
    size_t place = alarm->place;
    alarm->due_ms = due_ms;
    if (place == 0) {
        assert(alarms->count + 1 < alarms->room);
        place = ++alarms->count;
    }
    settle(alarms, alarm, place);
}

void alarms_unset(struct alarms *alarms, struct alarm *alarm)
{
    size_t place = alarm->place;
    if (place == 0)
        return;
    alarm->place = 0;
    struct alarm *last = alarms->heap[alarms->count--];
    if (last != alarm)
        settle(alarms, last, place);
}

struct alarm *alarms_first(const struct alarms *alarms)
{
    return alarms->count > 0 ? alarms->heap[1] : NULL;
}
