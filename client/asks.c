#include "client/asks.h"

#include <stdlib.h>

enum { PLACES_FIRST = 16 };

void asks_release(struct asks *asks)
{
    free(asks->places);
    *asks = (struct asks){0};
}

static int grow(struct asks *asks)
{
    size_t room = asks->room > 0 ? asks->room * 2 : PLACES_FIRST;
    struct asks_place *places = NULL;
    if (room < UINT32_MAX)
        places = realloc(asks->places, room * sizeof(*places));
    if (!places)
        return -1;
    for (size_t i = asks->room; i < room; i++)
        places[i] = (struct asks_place){.next = i + 1 < room ? (uint32_t)i + 2 : 0};
    asks->free = (uint32_t)asks->room + 1;
    asks->places = places;
    asks->room = room;
    return 0;
}

uint64_t asks_add(struct asks *asks, struct ask *ask)
{
    if (asks->free == 0 && grow(asks) < 0)
        return 0;
    uint32_t at = asks->free;
    struct asks_place *place = &asks->places[at - 1];
    asks->free = place->next;
    place->ask = ask;
    place->generation++;
    asks->count++;
    return (uint64_t)place->generation << 32 | at;
}

static struct asks_place *find(const struct asks *asks, uint64_t number)
{
    uint32_t at = (uint32_t)number;
    if (at == 0 || at > asks->room)
        return NULL;
    struct asks_place *place = &asks->places[at - 1];
    return place->ask && place->generation == number >> 32 ? place : NULL;
}

struct ask *asks_find(const struct asks *asks, uint64_t number)
{
    const struct asks_place *place = find(asks, number);
    return place ? place->ask : NULL;
}

void asks_remove(struct asks *asks, uint64_t number)
{
    struct asks_place *place = find(asks, number);
    if (!place)
        return;
    place->ask = NULL;
    place->next = asks->free;
    asks->free = (uint32_t)number;
    asks->count--;
}

struct ask *asks_next(const struct asks *asks, size_t *from)
{
    for (; *from < asks->room; ++*from)
        if (asks->places[*from].ask)
            return asks->places[*from].ask;
    return NULL;
}
