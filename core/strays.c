#include "core/strays.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

static void names_release(struct stray_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i].name);
    free(names->items);
    *names = (struct stray_names){0};
}

void strays_init(struct strays *s)
{
    memset(s, 0, sizeof *s);
}

void strays_release(struct strays *s)
{
    names_release(&s->known);
    names_release(&s->fresh);
}

void strays_begin(struct strays *s)
{
    names_release(&s->fresh);
}

void strays_seen(struct strays *s, const char *name, int64_t now_ms)
{
    struct stray_names *fresh = &s->fresh;
    if (fresh->count == fresh->room) {
        fresh->room = fresh->room == 0 ? 16 : fresh->room * 2;
        fresh->items = memory_resized(fresh->items, fresh->room, sizeof *fresh->items);
    }
    fresh->items[fresh->count++] = (struct stray){.name = memory_text(name), .first_ms = now_ms};
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct stray *)a)->name, ((const struct stray *)b)->name);
}

/* The same name twice in a list is one object. */
static void drop_repeats(struct stray_names *names)
{
    size_t kept = 0;
    for (size_t i = 0; i < names->count; i++) {
        if (kept > 0 && by_name(&names->items[kept - 1], &names->items[i]) == 0)
            free(names->items[i].name);
        else
            names->items[kept++] = names->items[i];
    }
    names->count = kept;
}

void strays_keep(struct strays *s)
{
    if (s->fresh.count > 0)
        qsort(s->fresh.items, s->fresh.count, sizeof *s->fresh.items, by_name);
    drop_repeats(&s->fresh);
    for (size_t i = 0; i < s->fresh.count && s->known.count > 0; i++) {
        const struct stray *before = bsearch(&s->fresh.items[i], s->known.items, s->known.count,
                                             sizeof *s->known.items, by_name);
        if (before != NULL)
            s->fresh.items[i].first_ms = before->first_ms;
    }
    names_release(&s->known);
    s->known = s->fresh;
    s->fresh = (struct stray_names){0};
}

void strays_take(struct strays *s, int64_t seen_by_ms, void (*take)(void *arg, const char *name),
                 void *arg)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->known.count; i++) {
        struct stray stray = s->known.items[i];
        if (stray.first_ms > seen_by_ms) {
            s->known.items[kept++] = stray;
            continue;
        }
        take(arg, stray.name);
        free(stray.name);
    }
    s->known.count = kept;
}
