#include "core/strays.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

void strays_init(struct strays *s)
{
    memset(s, 0, sizeof *s);
}

void strays_release(struct strays *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->items[i].name);
    free(s->items);
    memset(s, 0, sizeof *s);
}

/* The first whose name is not less. */
static size_t place_of(const struct strays *s, const char *name)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(s->items[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void strays_seen(struct strays *s, const char *name, uint64_t list, int64_t now_ms)
{
    size_t at = place_of(s, name);
    if (at < s->count && strcmp(s->items[at].name, name) == 0) {
        s->items[at].list = list;
        return;
    }
    if (s->count == s->room) {
        s->room = s->room == 0 ? 16 : s->room * 2;
        s->items = memory_resized(s->items, s->room, sizeof *s->items);
    }
    memmove(&s->items[at + 1], &s->items[at], (s->count - at) * sizeof *s->items);
    s->items[at] = (struct stray){.name = memory_text(name), .first_ms = now_ms, .list = list};
    s->count++;
}

void strays_forget(struct strays *s, size_t index)
{
    free(s->items[index].name);
    s->count--;
    memmove(&s->items[index], &s->items[index + 1], (s->count - index) * sizeof *s->items);
}

void strays_keep(struct strays *s, uint64_t list)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (s->items[i].list == list)
            s->items[kept++] = s->items[i];
        else
            free(s->items[i].name);
    }
    s->count = kept;
}
