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
    struct stray_names *fresh = &s->fresh;
    size_t kept = 0;
    if (fresh->count > 0)
        qsort(fresh->items, fresh->count, sizeof *fresh->items, by_name);
    for (size_t i = 0; i < fresh->count; i++) {
        char *name = fresh->items[i].name;
        if (kept > 0 && strcmp(fresh->items[kept - 1].name, name) == 0) {
            free(name); /* twice in a list is one object */
            continue;
        }
        const struct stray *before = strays_find(s, name);
        fresh->items[kept] = before ? *before : fresh->items[i];
        fresh->items[kept++].name = name;
    }
    fresh->count = kept;
    names_release(&s->known);
    s->known = *fresh;
    *fresh = (struct stray_names){0};
    assert(s->known.count <= s->known.capacity);
}

void strays_judge(struct strays *s, bool (*judge)(void *arg, const struct stray *stray), void *arg)
{
    assert(s->known.count <= s->known.capacity);
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
