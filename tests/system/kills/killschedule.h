/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/kills/postmortem.h"

/* What can happen to a broker at work, one at a time. Each leaves both programs running and all
 * that was taken away put back; what goes wrong is a fault. */

struct kill_context {
    struct scene *scene;
    const char *mcastd;
    unsigned kills, fm_kills, stops, reloads, refusals, skipped;
    unsigned unanswered; /* releases that were answered before the fabric manager did */
    struct postmortem_counts damaged[POSTMORTEM_KINDS];
};

struct plannedkill {
    const char *name;
    void (*strike)(struct kill_context *context);
};

/* All of them; their number. */
const struct plannedkill *killschedule(size_t *count);
