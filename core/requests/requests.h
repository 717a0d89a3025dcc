/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/act.h"

/* What the edges ask for, each answered once. A file of its own decides each. */

void core_reserve(struct core *core, const struct core_event *event);
void core_release(struct core *core, const struct core_event *event);
void core_begin_release(struct core *core, struct reservation *reservation, const char *why);

/* The reservation is granted once more. */
void core_granted_again(struct core *core, struct reservation *reservation);
void core_node_report(struct core *core, const struct core_event *event);
void core_fence(struct core *core, const struct core_event *event);
void core_node_boot(struct core *core, const struct core_event *event);

void core_cleanup(struct core *core, const struct core_event *event);
void core_steps(struct core *core, const struct core_event *event);
/* After loading: no deadline lies further away than it could if it were asked for now. */
void cleanup_load(struct core *core, struct reservation *reservation);
