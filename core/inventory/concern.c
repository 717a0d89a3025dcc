/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inventory/concern.h"

#include "base/memory.h"
#include "core/emit.h"
#include "core/inventory/inventory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODES_PER_TICK = 512, /* whose NICs are looked at: so that no step keeps the loop away */
    NAMES_PER_TICK = 4096,
    WORDS_OF_JOB = 4, /* changes that its event names, */
    CHANGE_SIZE = 160,
    NODES_SIZE = 120, /* … and its nodes, if they are no longer */
};

static_assert(sizeof((struct concern){0}.after_node) > NODELIST_NAME_MAX, "a node's name fits");

/* ---- what waits ---- */

static void release_list(struct concern_list *list)
{
    assert(list->count <= list->capacity);
    for (size_t i = 0; i < list->count; i++) {
        free(list->all[i].node);
        free(list->all[i].words);
    }
    free(list->all);
    *list = (struct concern_list){0};
}

static void release_nodes(struct concern *concern)
{
    assert(concern->node_count <= concern->node_capacity);
    for (size_t i = 0; i < concern->node_count; i++)
        free(concern->nodes[i].name);
    free(concern->nodes);
    concern->nodes = NULL;
    concern->node_count = concern->node_capacity = 0;
}

void concern_release(struct concern *concern)
{
    assert(concern);
    release_list(&concern->waiting);
    release_list(&concern->told);
    release_nodes(concern);
}

static void add(struct core *core, const struct concern_change *change)
{
    struct concern_list *list = &core->concern.waiting;
    assert(change->words);
    if (list->count == CONCERN_CHANGES_MAX) {
        list->left_out++;
        return;
    }
    list->all = memory_room(list->all, list->count, &list->capacity, sizeof *list->all);
    struct concern_change *kept = &list->all[list->count++];
    *kept = *change;
    kept->words = memory_text(change->words);
    kept->node = change->node ? memory_text(change->node) : NULL;
}

void concern_fabric(struct core *core, const struct fabric_change *change, const char *words)
{
    assert(change->kind < FABRIC_CHANGE_KINDS);
    add(core, &(struct concern_change){.words = (char *)(uintptr_t)words,
                                       .low = change->low,
                                       .high = change->high,
                                       .kind = change->kind});
}

void concern_node(struct core *core, const char *node, const char *words)
{
    assert(node);
    add(core, &(struct concern_change){.node = (char *)(uintptr_t)node,
                                       .words = (char *)(uintptr_t)words});
}

/* ---- which nodes ---- */

static bool touches(const struct concern_change *change, uint32_t dfa)
{
    const uint16_t place = dfa_place(dfa);
    assert(change->kind < FABRIC_CHANGE_KINDS);
    if (change->node)
        return false;
    if (change->kind == FABRIC_PORT_CHANGED)
        return change->low == dfa;
    if (change->kind == FABRIC_CABLE_DOWN || change->kind == FABRIC_CABLE_UP)
        return dfa_place(change->low) == place || dfa_place(change->high) == place;
    return dfa_place(change->low) == place;
}

static void put(struct concern *concern, const char *name, size_t change)
{
    assert(change < concern->told.count);
    if (concern->node_count == CONCERN_NODES_MAX) {
        concern->told.left_out++;
        return;
    }
    concern->nodes = memory_room(concern->nodes, concern->node_count, &concern->node_capacity,
                                 sizeof *concern->nodes);
    concern->nodes[concern->node_count++] =
        (struct concern_node){.name = memory_text(name), .change = (uint32_t)change};
}

static int compare_nodes(const void *a, const void *b)
{
    const struct concern_node *left = a, *right = b;
    const int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left->change > right->change) - (left->change < right->change);
}

static void look_at_node(struct concern *concern, const struct inventory *inventory,
                         const char *name)
{
    struct inventory_node node;
    assert(name);
    if (!inventory_node(inventory, name, &node))
        return;
    for (size_t change = 0; change < concern->told.count; change++) {
        bool touched = false;
        for (size_t i = 0; i < node.count && !touched; i++)
            touched = touches(&concern->told.all[change], node.nics[i].nic.address);
        if (touched)
            put(concern, name, change);
    }
}

static bool of_fabric(const struct concern_list *list)
{
    assert(list->count <= CONCERN_CHANGES_MAX);
    for (size_t i = 0; i < list->count; i++)
        if (!list->all[i].node)
            return true;
    return false;
}

static void look_at_nodes(struct core *core)
{
    struct concern *concern = &core->concern;
    const struct inventory_reports reports = inventory_reports_of(core);
    const struct inventory inventory = {.file = core->config.nics, .nodes = &reports};
    const char *name = concern->after_node;
    assert(!concern->nodes_known);
    for (int i = 0; i < NODES_PER_TICK && name && of_fabric(&concern->told); i++) {
        name = inventory_after(&inventory, name);
        if (name)
            look_at_node(concern, &inventory, name);
    }
    if (name && of_fabric(&concern->told)) {
        snprintf(concern->after_node, sizeof concern->after_node, "%s", name);
        return;
    }
    for (size_t i = 0; i < concern->told.count; i++)
        if (concern->told.all[i].node)
            put(concern, concern->told.all[i].node, i);
    if (concern->node_count > 0)
        qsort(concern->nodes, concern->node_count, sizeof *concern->nodes, compare_nodes);
    concern->nodes_known = true;
}

/* ---- which jobs ---- */

struct look {
    const struct concern *concern;
    struct nodeset nodes;
    bool changed[CONCERN_CHANGES_MAX];
    uint32_t count; /* of these */
};

static void look_at_name(void *arg, const char *name)
{
    struct look *look = arg;
    const struct concern *concern = look->concern;
    size_t low = 0, high = concern->node_count;
    while (low < high) { /* its first entry */
        const size_t middle = low + (high - low) / 2;
        if (strcmp(concern->nodes[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    assert(low <= concern->node_count);
    if (low == concern->node_count || strcmp(concern->nodes[low].name, name) != 0)
        return;
    nodeset_put(&look->nodes, name);
    for (; low < concern->node_count && strcmp(concern->nodes[low].name, name) == 0; low++) {
        bool *changed = &look->changed[concern->nodes[low].change];
        look->count += !*changed;
        *changed = true;
    }
}

/* "job f1 of elcap, on n[1-3]: switch g0s3 (x1000c3) is down; 2 more changes" */
static void write_words(const struct reservation *r, const struct concern_list *told,
                        struct look *look, char *text, size_t size)
{
    struct nodefold fold;
    uint32_t named = 0;
    nodeset_fold(&look->nodes, &fold);
    assert(fold.count > 0);
    const size_t fits = strlen(fold.text) > NODES_SIZE ? 0 : strlen(fold.text);
    size_t used = (size_t)snprintf(text, size, "job %s of %s, ", r->job, r->cluster);
    if (fits > 0 && fold.left_out == 0)
        used += (size_t)snprintf(text + used, size - used, "on %s: ", fold.text);
    else
        used += (size_t)snprintf(text + used, size - used,
                                 "on %u of its nodes: ", fold.count + fold.left_out);
    for (size_t i = 0; i < told->count && named < WORDS_OF_JOB; i++)
        if (look->changed[i])
            used += (size_t)snprintf(text + used, size - used, "%s%.*s", named++ > 0 ? "; " : "",
                                     CHANGE_SIZE, told->all[i].words);
    if (look->count > named)
        snprintf(text + used, size - used, "; %u more changes", look->count - named);
}

static void look_at_job(struct core *core, const struct reservation *r)
{
    struct concern *concern = &core->concern;
    struct look look = {.concern = concern};
    char text[JOB_ID_MAX + CLUSTER_NAME_MAX + NODES_SIZE + WORDS_OF_JOB * (CHANGE_SIZE + 2) + 64];
    assert(r->nodes);
    nodelist_each(r->nodes, look_at_name, &look);
    if (look.count == 0)
        return;
    write_words(r, &concern->told, &look, text, sizeof text);
    if (++concern->jobs <= CONCERN_JOBS_MAX)
        core_publish(core, EVENT_JOB_FABRIC, r, text, 0);
}

static void finish(struct core *core)
{
    struct concern *concern = &core->concern;
    assert(concern->nodes_known);
    const uint32_t untold = concern->jobs > CONCERN_JOBS_MAX ? concern->jobs - CONCERN_JOBS_MAX : 0;
    if (concern->told.left_out > 0 || untold > 0)
        core_trace(core, TRACE_WARNING,
                   "the fabric: so much has changed at once that not all jobs were told: %u "
                   "changes of nodes and %u jobs are left out",
                   concern->told.left_out, untold);
    release_list(&concern->told);
    release_nodes(concern);
    concern->nodes_known = false;
}

static void look_at_jobs(struct core *core)
{
    struct concern *concern = &core->concern;
    struct ledger_walk walk = {.after = concern->after_job};
    const struct reservation *r = NULL;
    uint64_t names = 0;
    assert(concern->nodes_known);
    while (concern->node_count > 0 && names < NAMES_PER_TICK &&
           (r = ledger_walk(&core->ledger, &walk))) {
        const bool runs = r->state == JOB_ACTIVE && r->nodes;
        names += runs ? 1 + r->node_count : 1;
        if (runs)
            look_at_job(core, r);
    }
    concern->after_job = walk.after;
    if (concern->node_count == 0 || !r)
        finish(core);
}

void concern_tick(struct core *core)
{
    struct concern *concern = &core->concern;
    assert(concern->told.count <= CONCERN_CHANGES_MAX);
    if (concern_deadline(core) == INT64_MAX)
        return;
    if (concern->told.count == 0) { /* begins anew */
        concern->told = concern->waiting;
        concern->waiting = (struct concern_list){0};
        concern->after_node[0] = '\0';
        concern->after_job = 0;
        concern->jobs = 0;
    }
    if (concern->nodes_known)
        look_at_jobs(core);
    else
        look_at_nodes(core);
}

int64_t concern_deadline(const struct core *core)
{
    return core->concern.told.count + core->concern.waiting.count > 0 ? core->now_ms : INT64_MAX;
}
