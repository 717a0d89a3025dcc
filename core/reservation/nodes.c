/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/nodes.h"

#include "base/memory.h"
#include "base/names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS_FIRST = 8,
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

static struct node_report **slot_of(struct node_report **slots, uint32_t count, const char *name)
{
    assert(count > 0 && (count & (count - 1)) == 0);
    uint32_t at = name_hash("", name) & (count - 1);
    while (slots[at] && strcmp(slots[at]->name, name) != 0)
        at = (at + 1) & (count - 1);
    return &slots[at];
}

const struct node_report *nodes_find(const struct nodes *nodes, const char *name)
{
    assert(!nodes || nodes->used < nodes->slot_count);
    const struct node_report *report =
        !nodes ? NULL : *slot_of(nodes->slots, nodes->slot_count, name);
    return report && report->state != 0 ? report : NULL;
}

const struct node_report *nodes_next(const struct nodes *nodes, uint32_t *at)
{
    assert(at);
    while (nodes && *at < nodes->slot_count) {
        const struct node_report *report = nodes->slots[(*at)++];
        if (report && report->state != 0)
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

static void resize_slots(struct nodes *nodes, uint32_t slot_count)
{
    assert(slot_count > nodes->slot_count);
    struct node_report **slots = memory_zeroed(slot_count * sizeof *slots);
    for (uint32_t i = 0; i < nodes->slot_count; i++) {
        struct node_report *report = nodes->slots[i];
        if (report)
            *slot_of(slots, slot_count, report->name) = report;
    }
    free(nodes->slots);
    nodes->slots = slots;
    nodes->slot_count = slot_count;
}

/* The entry of a name, made when there is none. */
static struct node_report *enter_name(struct nodes *nodes, const char *name)
{
    assert(nodes->count <= nodes->used);
    if (nodes->used + nodes->used / 2 >= nodes->slot_count)
        resize_slots(nodes, nodes->slot_count == 0 ? SLOTS_FIRST : nodes->slot_count * 2);
    struct node_report **at = slot_of(nodes->slots, nodes->slot_count, name);
    if (!*at) {
        size_t length = strlen(name);
        *at = memory_zeroed(sizeof **at + length + 1);
        memcpy((*at)->name, name, length + 1);
        nodes->used++;
    }
    return *at;
}

static void enter_named(void *arg, const char *name)
{
    assert(arg && name);
    (void)enter_name(arg, name);
}

bool nodes_is_of_job(struct nodes *nodes, const char *list, uint32_t count, const char *name)
{
    assert(list && name);
    if (nodes_find(nodes, name))
        return true;
    if (!nodes || count > EXPANDED_MAX || strnlen(list, LIST_LONG) < LIST_LONG)
        return nodelist_contains(list, name);
    if (!nodes->expanded) {
        uint32_t slot_count = nodes->slot_count;
        while (slot_count < 2 * count)
            slot_count *= 2;
        if (slot_count > nodes->slot_count)
            resize_slots(nodes, slot_count);
        nodelist_each(list, enter_named, nodes);
        nodes->expanded = true;
    }
    return *slot_of(nodes->slots, nodes->slot_count, name);
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
    for (uint32_t i = 0; i < nodes->slot_count; i++) {
        if (nodes->slots[i])
            free(nodes->slots[i]->services);
        free(nodes->slots[i]);
    }
    free(nodes->slots);
    free(nodes);
}
