/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/nodeset.h"

#include "base/memory.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 9 /* of a number, as nodelist_count takes it */ };

/* A name as "elcap" and 0012, of four digits; a width of 0: it does not end in a digit. */
struct parts {
    size_t prefix;
    uint32_t number;
    unsigned width;
};

static struct parts split_name(const char *name)
{
    assert(name);
    struct parts parts = {.prefix = strlen(name)};
    uint32_t unit = 1;
    while (parts.prefix > 0 && parts.width < DIGITS_MAX && name[parts.prefix - 1] >= '0' &&
           name[parts.prefix - 1] <= '9') {
        parts.number += (uint32_t)(name[--parts.prefix] - '0') * unit;
        unit *= 10;
        parts.width++;
    }
    return parts;
}

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
    const struct parts parts = split_name(name);
    struct noderun *last = set->count > 0 ? set->runs[set->count - 1] : NULL;
    assert(more == 0 || parts.width > 0);
    if (last && parts.width > 0 && last->width == parts.width && last->last + 1 == parts.number &&
        strncmp(last->prefix, name, parts.prefix) == 0 && last->prefix[parts.prefix] == '\0') {
        last->last = (uint32_t)(parts.number + more);
        return;
    }
    struct noderun *run = memory_zeroed(sizeof *run + parts.prefix + 1);
    run->first = parts.number;
    run->last = (uint32_t)(parts.number + more);
    run->width = parts.width;
    memcpy(run->prefix, name, parts.prefix);
    set->runs = memory_room_doubled(set->runs, set->count, sizeof *set->runs);
    set->runs[set->count++] = run;
}

static uint64_t power_of_ten(unsigned exponent)
{
    assert(exponent < 20);
    uint64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

static void add_run(void *arg, const struct nodelist_run *run)
{
    char name[NODELIST_NAME_MAX + 1];
    unsigned width = run->width;
    assert(width == 0 || run->first < power_of_ten(width));
    for (uint64_t first = run->first, last = 0; first <= run->last; first = last + 1, width++) {
        last = width == 0 || run->last < power_of_ten(width) ? run->last : power_of_ten(width) - 1;
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

/* Ordered, and each name once. One that was there twice, if any, is put into `twice`, unless NULL.
 */
static void order_runs(struct nodeset *set, char *twice)
{
    assert(set->count == 0 || set->runs);
    uint32_t kept = 0;
    if (set->count == 0)
        return;
    qsort(set->runs, set->count, sizeof *set->runs, compare_runs);
    for (size_t i = 1; i < set->count; i++) {
        struct noderun *last = set->runs[kept], *run = set->runs[i];
        if (compare_kinds(last, run) != 0 || run->first > last->last + 1) {
            set->runs[++kept] = run;
            continue;
        }
        if (twice && run->first <= last->last)
            write_name(twice, run->prefix, run->width, run->first);
        last->last = run->last > last->last ? run->last : last->last;
        free(run);
    }
    assert(kept < set->count);
    set->count = kept + 1;
}

void nodeset_add(struct nodeset *set, const char *list)
{
    assert(list);
    nodelist_runs(list, add_run, set);
    order_runs(set, NULL);
}

static void add_some(void *arg, const struct nodelist_run *run)
{
    const struct nodeset *set = arg;
    if (set->count <= NODESET_RUNS_MAX)
        add_run(arg, run);
}

bool nodeset_once(const char *list, char twice[static NODELIST_NAME_MAX + 1])
{
    assert(list);
    struct nodeset set = {0};
    twice[0] = '\0';
    nodelist_runs(list, add_some, &set);
    const bool all = set.count <= NODESET_RUNS_MAX;
    order_runs(&set, twice);
    nodeset_release(&set);
    return all && twice[0] == '\0';
}

void nodeset_put(struct nodeset *set, const char *name)
{
    assert(name);
    add_numbers(set, name, 0);
}

void nodeset_release(struct nodeset *set)
{
    assert(set->count == 0 || set->runs);
    for (size_t i = 0; i < set->count; i++)
        free(set->runs[i]);
    free(set->runs);
    *set = (struct nodeset){0};
}

struct sought {
    const char *name;
    struct parts parts;
};

static int compare_sought(const void *key, const void *element)
{
    const struct sought *sought = key;
    const struct noderun *run = *(struct noderun *const *)element;
    assert(sought->parts.width <= DIGITS_MAX && run->first <= run->last);
    int order = strncmp(sought->name, run->prefix, sought->parts.prefix);
    if (order != 0 || run->prefix[sought->parts.prefix] != '\0')
        return order != 0 ? order : -1;
    if (sought->parts.width != run->width)
        return sought->parts.width < run->width ? -1 : 1;
    return (sought->parts.number > run->last) - (sought->parts.number < run->first);
}

static const struct noderun *find_run(const struct nodeset *set, const char *name)
{
    assert(name);
    const struct sought sought = {name, split_name(name)};
    struct noderun **found = set->count == 0 ? NULL
                                             : bsearch(&sought, set->runs, set->count,
                                                       sizeof *set->runs, compare_sought);
    return found ? *found : NULL;
}

bool nodeset_has(const struct nodeset *set, const char *name)
{
    assert(set);
    return find_run(set, name) != NULL;
}

uint32_t nodeset_size(const struct nodeset *set)
{
    assert(set);
    uint32_t size = 0;
    for (size_t i = 0; i < set->count; i++)
        size += set->runs[i]->last - set->runs[i]->first + 1;
    return size;
}

bool nodeset_beyond(const struct nodeset *set, const struct nodeset *within,
                    char name[static NODELIST_NAME_MAX + 1])
{
    assert(within);
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

/* ---- as a text ---- */

static bool same_prefix(const struct noderun *run, const struct noderun *next)
{
    return run->width > 0 && next->width > 0 && strcmp(run->prefix, next->prefix) == 0;
}

/* 10 follows 9: "8-11" has both. */
static bool gains_a_digit(const struct noderun *run, const struct noderun *next)
{
    return same_prefix(run, next) && next->width == run->width + 1 &&
           next->first == run->last + 1 && next->first == power_of_ten(run->width);
}

void nodeset_fold(struct nodeset *set, struct nodefold *out)
{
    size_t used = 0;
    bool open = false; /* a bracket, for the numbers behind one prefix */
    *out = (struct nodefold){.count = 0};
    order_runs(set, NULL);
    for (size_t i = 0, next; i < set->count; i = next) {
        const struct noderun *run = set->runs[i], *end = run;
        uint32_t names = run->last - run->first + 1;
        for (next = i + 1; next < set->count && gains_a_digit(end, set->runs[next]); next++) {
            end = set->runs[next];
            names += end->last - end->first + 1;
        }
        const bool more = next < set->count && same_prefix(run, set->runs[next]);
        const bool opens = !open && (more || names > 1);
        char item[NODELIST_NAME_MAX + sizeof ",[-]" + DIGITS_MAX];
        int length = snprintf(item, sizeof item, "%s%s%s", used > 0 ? "," : "",
                              open ? "" : run->prefix, opens ? "[" : "");
        if (run->width > 0)
            length += sprintf(item + length, "%0*" PRIu32, (int)run->width, run->first);
        if (names > 1)
            length += sprintf(item + length, "-%0*" PRIu32, (int)end->width, end->last);
        if (out->left_out > 0 || used + (size_t)length + sizeof "]" > sizeof out->text) {
            out->left_out += names;
            continue;
        }
        memcpy(out->text + used, item, (size_t)length);
        used += (size_t)length;
        out->count += names;
        open |= opens;
        if (open && !more)
            out->text[used++] = ']';
        open = open && more;
    }
    assert(used + open < sizeof out->text);
    if (open)
        out->text[used] = ']';
    nodeset_release(set);
}
