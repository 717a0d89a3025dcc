/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reconcile/strays.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void names_release(struct stray_names *names)
{
    assert(names->count <= names->capacity);
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i].name);
    free(names->items);
    *names = (struct stray_names){0};
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
    assert(name);
    assert(s->fresh.count <= s->fresh.capacity);
    struct stray_names *fresh = &s->fresh;
    fresh->items = memory_room(fresh->items, fresh->count, &fresh->capacity, sizeof *fresh->items);
    fresh->items[fresh->count++] = (struct stray){.name = memory_text(name), .first_ms = now_ms};
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct stray *)a)->name, ((const struct stray *)b)->name);
}

/* The same name twice in a list is one object. */
static void drop_repeats(struct stray_names *names)
{
    assert(names->count <= names->capacity);
    size_t kept = 0;
    for (size_t i = 0; i < names->count; i++) {
        if (kept > 0 && by_name(&names->items[kept - 1], &names->items[i]) == 0)
            free(names->items[i].name);
        else
            names->items[kept++] = names->items[i];
    }
    names->count = kept;
}

struct stray *strays_find(const struct strays *s, const char *name)
{
    assert(name);
    const struct stray key = {.name = (char *)(uintptr_t)name};
    return s->known.count == 0
               ? NULL
               : bsearch(&key, s->known.items, s->known.count, sizeof *s->known.items, by_name);
}

void strays_keep(struct strays *s)
{
    if (s->fresh.count > 0)
        qsort(s->fresh.items, s->fresh.count, sizeof *s->fresh.items, by_name);
    drop_repeats(&s->fresh);
    for (size_t i = 0; i < s->fresh.count; i++) {
        struct stray *fresh = &s->fresh.items[i];
        const struct stray *before = strays_find(s, fresh->name);
        char *name = fresh->name;
        if (!before)
            continue;
        *fresh = *before;
        fresh->name = name;
    }
    names_release(&s->known);
    s->known = s->fresh;
    s->fresh = (struct stray_names){0};
    assert(s->known.count <= s->known.capacity);
}

void strays_judge(struct strays *s, bool (*judge)(void *arg, const struct stray *stray), void *arg)
{
    assert(judge);
    size_t kept = 0;
    for (size_t i = 0; i < s->known.count; i++) {
        struct stray stray = s->known.items[i];
        if (judge(arg, &stray))
            s->known.items[kept++] = stray;
        else
            free(stray.name);
    }
    s->known.count = kept;
}
