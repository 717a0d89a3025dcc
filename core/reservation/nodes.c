/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/nodes.h"

#include "base/memory.h"
#include "base/names.h"
#include "core/inventory/traffic.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIST_LONG = 256,   /* bytes; reading a shorter list costs no more than the rest of a report */
    SET_MAX = 1 << 14, /* nodes; each may take a run, and that would stop the loop too long */
};

static size_t name_length(const char *text)
{
    assert(text);
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

static const struct node_report by_sum = {.state = NODE_DESTROYED, .summed = true};

/* What is known of the name, and where it is in the order, or would be. */
static const struct node_report *look_up(const struct nodes *nodes, const char *name, uint32_t *at)
{
    assert(name);
    bool there;
    *at = place_of(nodes, name, &there);
    if (there)
        return nodes->all[*at];
    return nodeset_has(&nodes->summed, name) ? &by_sum : NULL;
}

const struct node_report *nodes_find(const struct nodes *nodes, const char *name)
{
    uint32_t at;
    assert(name);
    return nodes ? look_up(nodes, name, &at) : NULL;
}

const struct node_report *nodes_next(const struct nodes *nodes, uint32_t *at)
{
    assert(at);
    return nodes && *at < nodes->used ? nodes->all[(*at)++] : NULL;
}

uint32_t nodes_clean(const struct nodes *nodes)
{
    assert(!nodes || nodes->clean <= nodes->count);
    return !nodes ? 0 : nodes->clean;
}

const char *node_report_services(const struct node_report *report)
{
    assert(report);
    return report->services_from == 0 ? NULL : report->name + report->services_from;
}

/* As it is reported now, where look_up has found `before`, and instead of that. */
static struct node_report *enter_report(struct nodes *nodes, const struct node_report *before,
                                        uint32_t at, const struct node_record *record)
{
    const uint32_t used = nodes->used;
    size_t name = strlen(record->node) + 1;
    size_t services = record->services ? strlen(record->services) + 1 : 0;
    assert(name <= NODELIST_NAME_MAX + 1);
    struct node_report *report = memory_zeroed(sizeof *report + name + services);
    report->order = record->order;
    report->sums = record->sums;
    report->state = record->state;
    memcpy(report->name, record->node, name);
    if (services > 0)
        memcpy(report->name + (report->services_from = (uint16_t)name), record->services, services);
    if (before && before != &by_sum) {
        assert(before == nodes->all[at]);
        free(nodes->all[at]);
    } else {
        nodes->all = memory_room_doubled(nodes->all, used, sizeof *nodes->all);
        memmove(&nodes->all[at + 1], &nodes->all[at], (used - at) * sizeof *nodes->all);
        nodes->used++;
    }
    nodes->all[at] = report;
    return report;
}

bool nodes_is_of_job(struct nodes *nodes, const char *list, uint32_t count, const char *name)
{
    assert(list && name);
    if (nodes_find(nodes, name))
        return true;
    if (!nodes || count > SET_MAX || strnlen(list, LIST_LONG) < LIST_LONG)
        return nodelist_contains(list, name);
    if (nodes->named.count == 0)
        nodeset_add(&nodes->named, list);
    return nodeset_has(&nodes->named, name);
}

static void count_report(struct nodes *nodes, const struct node_report *report, uint32_t one)
{
    assert(one == 1 || one == UINT32_MAX);
    nodes->count += one;
    nodes->clean += report->state == NODE_DESTROYED || report->state == NODE_FENCED ? one : 0;
    nodes->lingering += report->state == NODE_LINGERING ? one : 0;
}

void nodes_put(struct nodes **nodes, const struct node_record *record)
{
    if (!*nodes)
        *nodes = memory_zeroed(sizeof **nodes);
    uint32_t at;
    const struct node_report *before = look_up(*nodes, record->node, &at);
    if (before)
        count_report(*nodes, before, UINT32_MAX); /* minus one */
    count_report(*nodes, enter_report(*nodes, before, at, record), 1);
    assert((*nodes)->clean <= (*nodes)->count && (*nodes)->lingering <= (*nodes)->count);
}

bool nodes_beyond(const char *list, const char *job, char name[static NODELIST_NAME_MAX + 1])
{
    assert(list && job);
    struct nodeset named = {0}, has = {0};
    if (strcmp(list, job) == 0)
        return false;
    nodeset_add(&named, list);
    nodeset_add(&has, job);
    bool beyond = nodeset_beyond(&named, &has, name);
    nodeset_release(&named);
    nodeset_release(&has);
    return beyond;
}

struct summing {
    struct nodes *nodes;
    const struct sum_record *sum;
    bool news;
    struct nodes fresh; /* reports of names that are not in nodes->all, in any order */
};

static void override_report(struct summing *summing, struct node_report *report)
{
    assert(report->sums < summing->sum->sum);
    report->services_from = 0;
    report->state = summing->sum->state;
    report->summed = summing->news = true;
}

static void sum_lingering(void *arg, const char *name)
{
    struct summing *summing = arg;
    uint32_t at;
    assert(summing->sum->state == NODE_LINGERING);
    const struct node_report *before = look_up(summing->nodes, name, &at);
    struct node_report *report = before && before != &by_sum
                                     ? summing->nodes->all[at]
                                     : enter_report(&summing->fresh, NULL, summing->fresh.used,
                                                    &(struct node_record){.node = name});
    if (report->sums < summing->sum->sum && report->state != NODE_LINGERING)
        override_report(summing, report);
}

static int compare_reports(const void *left, const void *right)
{
    const struct node_report *const *l = left, *const *r = right;
    return strverscmp((*l)->name, (*r)->name);
}

/* All together: to make room for one after the other takes time by the square of their number, and
 * a list can name a million. Some names may be there twice. */
static void take_fresh(struct nodes *nodes, struct nodes *fresh)
{
    uint32_t kept = 0;
    assert(fresh->used > 0);
    for (uint32_t i = 0; i < fresh->used; i++) {
        nodes->all = memory_room_doubled(nodes->all, nodes->used, sizeof *nodes->all);
        nodes->all[nodes->used++] = fresh->all[i];
    }
    free(fresh->all);
    qsort(nodes->all, nodes->used, sizeof *nodes->all, compare_reports);
    for (uint32_t i = 1; i < nodes->used; i++) {
        if (compare_reports(&nodes->all[kept], &nodes->all[i]) != 0)
            nodes->all[++kept] = nodes->all[i];
        else
            free(nodes->all[i]);
    }
    nodes->used = kept + 1;
}

/* That services linger is left to the node's own word, or a fence. */
static void sum_destroyed(struct summing *summing)
{
    struct nodes *nodes = summing->nodes;
    struct nodeset named = {0};
    char name[NODELIST_NAME_MAX + 1];
    assert(summing->sum->state == NODE_DESTROYED);
    nodeset_add(&named, summing->sum->nodes);
    summing->news = nodeset_beyond(&named, &nodes->summed, name);
    for (uint32_t i = 0; i < nodes->used; i++)
        if (nodes->all[i]->sums < summing->sum->sum && nodes->all[i]->state == NODE_CREATED &&
            nodeset_has(&named, nodes->all[i]->name))
            override_report(summing, nodes->all[i]);
    nodeset_add(&nodes->summed, summing->sum->nodes);
    nodeset_release(&named);
}

void nodes_sum(struct nodes **nodes, const struct sum_record *sum)
{
    if (!*nodes)
        *nodes = memory_zeroed(sizeof **nodes);
    struct summing summing = {.nodes = *nodes, .sum = sum};
    struct nodes *n = *nodes;
    assert(n->sums < sum->sum);
    if (sum->state == NODE_DESTROYED)
        sum_destroyed(&summing);
    else
        nodelist_each(sum->nodes, sum_lingering, &summing);
    if (summing.fresh.used > 0)
        take_fresh(n, &summing.fresh);
    if (summing.news)
        n->sums = sum->sum;
    n->count = n->clean = nodeset_size(&n->summed);
    n->lingering = 0;
    for (uint32_t i = 0; i < n->used; i++) {
        if (nodeset_has(&n->summed, n->all[i]->name))
            count_report(n, &by_sum, UINT32_MAX);
        count_report(n, n->all[i], 1);
    }
    assert(n->clean <= n->count && n->lingering <= n->count);
}

void nodes_destroy(struct nodes *nodes)
{
    if (!nodes)
        return;
    assert(nodes->used <= nodes->count);
    for (uint32_t i = 0; i < nodes->used; i++)
        free(nodes->all[i]);
    nodeset_release(&nodes->named);
    nodeset_release(&nodes->summed);
    traffic_destroy(nodes->traffic);
    free(nodes->all);
    free(nodes);
}
