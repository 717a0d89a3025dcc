/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a resource manager sees of its jobs: all that are active, or for a moment only some. */

struct sim;

struct jobview {
    uint32_t cluster;
    const char **active; /* job ids; they live as long as the resource manager */
    size_t count;
    int64_t taken_ms;
};

void jobview_take(struct sim *sim, struct jobview *jobview, uint32_t cluster); /* now */
void jobview_release(struct jobview *jobview);

/* How many of it are named when it arrives, if it may lie: fewer, but never when another one lacked
 * an active job the grace period ago or more: that is how a resource manager says that jobs are
 * over (F20); nor while the pieces of what another one named are still on their way. Called once,
 * when it arrives: that order counts. */
size_t jobview_named(struct sim *sim, const struct jobview *jobview, bool lies);
