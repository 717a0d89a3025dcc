/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inventory/inventory.h"

#include "core/core.h"
#include "core/inventory/nodenics.h"

#include <assert.h>

/* What nodes have told of their NICs, for the inventory. */

static size_t reported_nics(const void *core, const char *node,
                            struct nic out[static NICS_PER_NODE])
{
    const struct nodenics *row = core_node_nics(core, node);
    const size_t count = row ? row->place_count : 0;
    assert(core);
    for (size_t i = 0; i < count; i++)
        out[i] = row->places[i];
    return count;
}

static const char *reported_after(const void *core, const char *name)
{
    const struct nodenics *row = core_node_nics_after(core, name);
    assert(core);
    return row ? row->node : NULL;
}

struct inventory_reports inventory_reports_of(const struct core *core)
{
    assert(core);
    return (struct inventory_reports){core, reported_nics, reported_after};
}
