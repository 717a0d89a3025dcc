/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"

/* Decisions of the core, and events for subscribers, as lines of the log with fields (log.h). */

/* An EFFECT_TRACE, when it is made. */
void decisionlog_trace(const struct effect *effect);

/* The event of this number, when it is durable (F24). At LOG_INFO; at LOG_DEBUG when there is
 * always a trace of it too, with the reason (a job that had to give up or is lost, the link). */
void decisionlog_event(const struct core *core, uint64_t seq);
