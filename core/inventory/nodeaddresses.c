/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inventory/nodeaddresses.h"

#include "base/memory.h"
#include "base/nodelist.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { NONE = -1, NAME_SIZE = NODELIST_NAME_MAX + 1 };

/* Of one node; NONE where it has no such NIC. */
struct row {
    unsigned count;
    int64_t at[NICS_PER_NODE]; /* by device, in 20 bits */
};

struct writing {
    const struct inventory *inventory;
    char *text;
    size_t length;
    bool too_long;
    /* The entry that is being made: of the numbers from..to of a run; none: to < from. */
    uint32_t from, to;
    struct row first, last;
    int64_t steps[NICS_PER_NODE]; /* once it has two nodes */
};

__attribute__((format(printf, 2, 3))) static void add(struct writing *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(w->text + w->length, NODEADDRESSES_MAX - w->length, format, list);
    va_end(list);
    assert(length >= 0);
    w->too_long = w->too_long || (size_t)length >= NODEADDRESSES_MAX - w->length;
    w->length += w->too_long ? 0 : (size_t)length;
}

static bool read_row(const struct inventory *inventory, const char *name, struct row *row)
{
    struct inventory_node node;
    row->count = 0;
    if (!inventory_node(inventory, name, &node))
        return false;
    for (size_t i = 0; i < node.count; i++) { /* ordered by device */
        while (row->count < node.nics[i].nic.device)
            row->at[row->count++] = NONE;
        row->at[row->count++] = node.nics[i].nic.address >> 12;
    }
    return row->count > 0;
}

static void end_entry(struct writing *w, const struct nodelist_run *run)
{
    if (w->to < w->from)
        return;
    const bool several = w->to > w->from;
    add(w, "%s%s", w->length > 0 ? ";" : "", run->prefix);
    if (run->width > 0)
        add(w, "%s%0*" PRIu32, several ? "[" : "", (int)run->width, w->from);
    if (several)
        add(w, "-%0*" PRIu32 "]", (int)run->width, w->to);
    for (unsigned i = 0; i < w->first.count; i++) {
        add(w, i == 0 ? "=" : ",");
        if (w->first.at[i] == NONE)
            add(w, "-");
        else
            add(w, "0x%05" PRIx64, (uint64_t)w->first.at[i]);
        if (several && w->first.at[i] != NONE)
            add(w, "%+" PRId64, w->steps[i]);
    }
    w->from = 1;
    w->to = 0;
}

/* Whether the row goes on as the entry has begun. */
static bool continues(struct writing *w, uint32_t number, const struct row *row)
{
    const bool second = w->to == w->from;
    if (w->to < w->from || number != w->to + 1 || row->count != w->first.count)
        return false;
    for (unsigned i = 0; i < row->count; i++) {
        const int64_t step = row->at[i] - w->last.at[i];
        if ((row->at[i] == NONE) != (w->last.at[i] == NONE) || (!second && step != w->steps[i]))
            return false;
    }
    for (unsigned i = 0; second && i < row->count; i++)
        w->steps[i] = row->at[i] - w->last.at[i];
    return true;
}

static void write_run(void *arg, const struct nodelist_run *run)
{
    struct writing *w = arg;
    char name[NAME_SIZE];
    struct row row;
    for (uint64_t number = run->first; number <= run->last && !w->too_long; number++) {
        if (run->width > 0)
            snprintf(name, sizeof name, "%s%0*" PRIu64, run->prefix, (int)run->width, number);
        else
            snprintf(name, sizeof name, "%s", run->prefix);
        if (!read_row(w->inventory, name, &row)) {
            end_entry(w, run);
            continue;
        }
        if (!continues(w, (uint32_t)number, &row)) {
            end_entry(w, run);
            w->first = row;
            w->from = (uint32_t)number;
        }
        w->to = (uint32_t)number;
        w->last = row;
    }
    end_entry(w, run);
}

char *nodeaddresses_write(const struct inventory *inventory, const char *nodes,
                          enum nodeaddresses_lack *lack)
{
    struct writing w = {.inventory = inventory, .from = 1};
    assert(inventory && lack);
    w.text = memory_zeroed(NODEADDRESSES_MAX);
    if (nodes)
        nodelist_runs(nodes, write_run, &w);
    *lack = w.too_long      ? NODEADDRESSES_TOO_LONG
            : w.length == 0 ? NODEADDRESSES_UNKNOWN
                            : NODEADDRESSES_COMPLETE;
    if (*lack == NODEADDRESSES_COMPLETE)
        return w.text;
    free(w.text);
    return NULL;
}
