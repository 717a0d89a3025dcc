/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/nodes.h"

#include "base/memory.h"
#include "base/names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIST_LONG = 256, /* bytes; reading a shorter list costs no more than the rest of a report */
    EXPANDED_MAX = 1 << 14, /* nodes; no machine has more, and it would stop the loop too long */
};

static size_t name_length(const char *text)
{
    size_t length = 0;
    while (node_char(text[length]))
        length++;
    return length;
}

bool node_name_valid(const char *name)
{
    assert(name);
    size_t length = name_length(name);
    return length >= 1 && length <= NODELIST_NAME_MAX && name[length] == '\0';
}

/* "device:id" at *at, which is moved behind it. */
static bool service_valid(const char **at)
{
    assert(*at);
    enum { DEVICE_MAX = 15, DIGITS_MAX = 9 };
    size_t device = name_length(*at), digits = 0;
    const char *id = *at + device + 1;
    if (device == 0 || device > DEVICE_MAX || id[-1] != ':' || *id == '0')
        return false;
    while (id[digits] >= '0' && id[digits] <= '9')
        digits++;
    *at = id + digits;
    return digits >= 1 && digits <= DIGITS_MAX;
}

bool node_services_valid(const char *services)
{
    assert(services);
    const char *at = services;
    if (strnlen(services, NODE_SERVICES_MAX + 1) > NODE_SERVICES_MAX)
        return false;
    while (service_valid(&at)) {
        if (*at == '\0')
            return true;
        if (*at++ != ',')
            return false;
    }
    return false;
}

/* Where the name is in the order, or would be. Names mostly come in order. */
static uint32_t place_of(const struct nodes *nodes, const char *name, bool *there)
{
    uint32_t low = 0, high = nodes->used;
    *there = false;
    if (high > 0 && strverscmp(nodes->all[high - 1]->name, name) < 0)
        return high;
    while (low < high && !*there) {
        uint32_t middle = low + (high - low) / 2;
        int order = strverscmp(nodes->all[middle]->name, name);
        *there = order == 0;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    assert(high <= nodes->used);
    return high;
}

const struct node_report *nodes_find(const struct nodes *nodes, const char *name)
{
    assert(name);
    bool there = false;
    uint32_t at = !nodes ? 0 : place_of(nodes, name, &there);
    return there && nodes->all[at]->state != 0 ? nodes->all[at] : NULL;
}

const struct node_report *nodes_next(const struct nodes *nodes, uint32_t *at)
{
    assert(at);
    while (nodes && *at < nodes->used) {
        const struct node_report *report = nodes->all[(*at)++];
        if (report->state != 0)
            return report;
    }
    return NULL;
}

uint32_t nodes_clean(const struct nodes *nodes)
{
    assert(!nodes || nodes->clean <= nodes->count);
    return !nodes ? 0 : nodes->clean;
}

static bool is_clean(const struct node_report *report)
{
    return report->state == NODE_DESTROYED || report->state == NODE_FENCED;
}

/* The entry of a name, made when there is none. */
static struct node_report *enter_name(struct nodes *nodes, const char *name)
{
    assert(nodes->count <= nodes->used);
    bool there;
    uint32_t at = place_of(nodes, name, &there);
    if (there)
        return nodes->all[at];
    size_t length = strlen(name);
    struct node_report *report = memory_zeroed(sizeof *report + length + 1);
    memcpy(report->name, name, length + 1);
    nodes->all = memory_room(nodes->all, nodes->used, &nodes->capacity, sizeof *nodes->all);
    memmove(&nodes->all[at + 1], &nodes->all[at], (nodes->used - at) * sizeof *nodes->all);
    nodes->all[at] = report;
    nodes->used++;
    return report;
}

struct names {
    char **all;
    size_t count, capacity;
};

static void collect_name(void *arg, const char *name)
{
    struct names *names = arg;
    assert(names->count <= names->capacity);
    names->all = memory_room(names->all, names->count, &names->capacity, sizeof *names->all);
    names->all[names->count++] = memory_text(name);
}

static int compare_names(const void *left, const void *right)
{
    return strverscmp(*(char *const *)left, *(char *const *)right);
}

/* Sorted before: in the order of a list that runs backwards each would move all that came before.
 */
static void enter_list(struct nodes *nodes, const char *list)
{
    struct names names = {0};
    assert(!nodes->expanded);
    nodelist_each(list, collect_name, &names);
    qsort(names.all, names.count, sizeof *names.all, compare_names);
    for (size_t i = 0; i < names.count; i++) {
        (void)enter_name(nodes, names.all[i]);
        free(names.all[i]);
    }
    free(names.all);
    nodes->expanded = true;
}

bool nodes_is_of_job(struct nodes *nodes, const char *list, uint32_t count, const char *name)
{
    assert(list && name);
    if (nodes_find(nodes, name))
        return true;
    if (!nodes || count > EXPANDED_MAX || strnlen(list, LIST_LONG) < LIST_LONG)
        return nodelist_contains(list, name);
    if (!nodes->expanded)
        enter_list(nodes, list);
    bool there;
    (void)place_of(nodes, name, &there);
    return there;
}

static void count_report(struct nodes *nodes, const struct node_report *report, uint32_t one)
{
    assert(one == 1 || one == UINT32_MAX);
    nodes->count += report->state != 0 ? one : 0;
    nodes->clean += is_clean(report) ? one : 0;
    nodes->lingering += report->state == NODE_LINGERING ? one : 0;
}

void nodes_put(struct nodes **nodes, const struct node_record *record)
{
    if (!*nodes)
        *nodes = memory_zeroed(sizeof **nodes);
    struct node_report *report = enter_name(*nodes, record->node);
    count_report(*nodes, report, UINT32_MAX); /* minus one */
    char *kept = memory_text(record->services);
    free(report->services);
    report->services = kept;
    report->state = record->state;
    report->order = record->order;
    count_report(*nodes, report, 1);
    assert((*nodes)->clean <= (*nodes)->count && (*nodes)->lingering <= (*nodes)->count);
}

void nodes_destroy(struct nodes *nodes)
{
    if (!nodes)
        return;
    assert(nodes->count <= nodes->used);
    for (uint32_t i = 0; i < nodes->used; i++) {
        free(nodes->all[i]->services);
        free(nodes->all[i]);
    }
    free(nodes->all);
    free(nodes);
}
