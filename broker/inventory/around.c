/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/inventory/reader.h"

#include "base/memory.h"

#include <stdlib.h>

/* What the reader asks the core, and tells it. */

const char *inventory_url(const struct inventory_reader *reader)
{
    struct core_status status;
    core_status(reader->around.core, &status);
    return status.link == LINK_UP ? status.link_url : NULL;
}

bool inventory_yields(const struct inventory_reader *reader)
{
    struct core_status status;
    core_status(reader->around.core, &status);
    return status.calls_queued_reserve + status.calls_queued_release + status.calls_queued_check +
               status.calls_queued_cleanup + status.calls_in_flight >
           0;
}

void inventory_tell_partitions(struct inventory_reader *reader)
{
    const struct documents_partitions *all = &reader->documents.partitions;
    struct partition *told = memory_resized(NULL, all->count + 1, sizeof *told);
    for (size_t i = 0; i < all->count; i++)
        told[i] = (struct partition){.name = all->all[i].name, .vnis = &all->all[i].vnis};
    struct core_event event = {.kind = CORE_PARTITIONS,
                               .u.partitions = {.all = told, .count = all->count}};
    reader->around.step(reader->around.arg, &event);
    free(told);
}

bool inventory_wants_partitions(const struct inventory_reader *reader)
{
    return core_partitions_open(reader->around.core);
}
