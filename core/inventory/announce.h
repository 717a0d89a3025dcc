/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/state.h"

/* CORE_FABRIC: an event for each change that is listed, and one for all others together (P5). */
void core_fabric(struct core *core, const struct core_event *event);
