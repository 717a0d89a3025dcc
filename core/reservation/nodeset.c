/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/nodeset.h"

#include "base/memory.h"
#include "core/reservation/nodefold.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of `number` behind the prefix; a width of 0: the prefix. */
static void write_name(char name[static NODELIST_NAME_MAX + 1], const char *prefix, unsigned width,
                       uint64_t number)
{
    assert(strlen(prefix) + width <= NODELIST_NAME_MAX);
    int length = snprintf(name, NODELIST_NAME_MAX + 1, "%s", prefix);
    if (width > 0)
        (void)snprintf(name + length, (size_t)(NODELIST_NAME_MAX + 1 - length), "%0*" PRIu64,
                       (int)width, number);
}

/* Numbers of one count of digits, so that a prefix that ends in digits can lend them. */
static void add_numbers(struct nodeset *set, const char *name, uint64_t more)
{
    const struct nodefold_parts parts = nodefold_split(name);
    assert(more == 0 || parts.width > 0);
    struct noderun *run = memory_zeroed(sizeof *run + parts.prefix + 1);
    run->first = parts.number;
    run->last = (uint32_t)(parts.number + more);
    run->width = parts.width;
    memcpy(run->prefix, name, parts.prefix);
    set->runs = memory_room(set->runs, set->count, &set->capacity, sizeof *set->runs);
    set->runs[set->count++] = run;
}

static void add_run(void *arg, const struct nodelist_run *run)
{
    char name[NODELIST_NAME_MAX + 1];
    uint64_t first = run->first, last = run->first, end = 10;
    unsigned width = run->width > 0 ? 1 : 0;
    for (; width > 0 && (width < run->width || end <= first); end *= 10)
        width++;
    for (; first <= run->last; first = last + 1, width++, end *= 10) {
        last = run->last < end ? run->last : end - 1;
        write_name(name, run->prefix, width, first);
        add_numbers(arg, name, last - first);
    }
}

static int compare_kinds(const struct noderun *left, const struct noderun *right)
{
    int order = strcmp(left->prefix, right->prefix);
    return order != 0 ? order : (left->width > right->width) - (left->width < right->width);
}

static int compare_runs(const void *left, const void *right)
{
    const struct noderun *l = *(struct noderun *const *)left, *r = *(struct noderun *const *)right;
    int order = compare_kinds(l, r);
    return order != 0 ? order : (l->first > r->first) - (l->first < r->first);
}

void nodeset_add(struct nodeset *set, const char *list)
{
    size_t kept = 0;
    nodelist_runs(list, add_run, set);
    if (set->count == 0)
        return; /* no name was short enough */
    qsort(set->runs, set->count, sizeof *set->runs, compare_runs);
    for (size_t i = 1; i < set->count; i++) {
        struct noderun *last = set->runs[kept], *run = set->runs[i];
        if (compare_kinds(last, run) != 0 || run->first > last->last + 1) {
            set->runs[++kept] = run;
            continue;
        }
        last->last = run->last > last->last ? run->last : last->last;
        free(run);
    }
    set->count = kept + 1;
}

void nodeset_release(struct nodeset *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->runs[i]);
    free(set->runs);
    *set = (struct nodeset){0};
}

struct sought {
    const char *name;
    struct nodefold_parts parts;
};

static int compare_sought(const void *key, const void *element)
{
    const struct sought *sought = key;
    const struct noderun *run = *(struct noderun *const *)element;
    int order = strncmp(sought->name, run->prefix, sought->parts.prefix);
    if (order != 0 || run->prefix[sought->parts.prefix] != '\0')
        return order != 0 ? order : -1;
    if (sought->parts.width != run->width)
        return sought->parts.width < run->width ? -1 : 1;
    return (sought->parts.number > run->last) - (sought->parts.number < run->first);
}

static const struct noderun *find_run(const struct nodeset *set, const char *name)
{
    const struct sought sought = {name, nodefold_split(name)};
    struct noderun **found = set->count == 0 ? NULL
                                             : bsearch(&sought, set->runs, set->count,
                                                       sizeof *set->runs, compare_sought);
    return found ? *found : NULL;
}

bool nodeset_has(const struct nodeset *set, const char *name)
{
    return find_run(set, name) != NULL;
}

uint32_t nodeset_size(const struct nodeset *set)
{
    uint32_t size = 0;
    for (size_t i = 0; i < set->count; i++)
        size += set->runs[i]->last - set->runs[i]->first + 1;
    return size;
}

bool nodeset_beyond(const struct nodeset *set, const struct nodeset *within,
                    char name[static NODELIST_NAME_MAX + 1])
{
    for (size_t i = 0; i < set->count; i++) {
        const struct noderun *run = set->runs[i], *over;
        write_name(name, run->prefix, run->width, run->first);
        if (!(over = find_run(within, name)))
            return true;
        write_name(name, run->prefix, run->width, (uint64_t)over->last + 1);
        if (over->last < run->last)
            return true;
    }
    return false;
}
