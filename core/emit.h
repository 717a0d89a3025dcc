/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/apply.h"

#include <string.h>

/* Makes the effects of the step that is under way. Core's files call these and do no more: the edge
 * acts. */

struct effect *core_effect(struct core *core, enum effect_kind kind); /* a new one, to be filled */
void core_effects_clear(struct core *core);                           /* the next step begins */

/* Gives memory up: it is freed when the next step begins. NULL is allowed.
 *
 * Effects point into the state, and the edge reads them after the step. So what the state gives up
 * within a step and an effect may point at is discarded and not freed: reservations, their texts,
 * operations (a loop over them may also still reach one), names in the answer to a sync. A secret
 * is wiped at once. What no effect ever points at is freed at once: waiters, cleanups, reports of
 * nodes, alarms. */
void core_discard(struct core *core, void *memory);
/* Text that lives until the next step. */
__attribute__((format(printf, 2, 3))) const char *core_text(struct core *core, const char *format,
                                                            ...);

enum { TRACE_ERROR = 3, TRACE_WARNING = 4, TRACE_NOTICE = 5, TRACE_INFO = 6, TRACE_DEBUG = 7 };

/* A line of the log. About a reservation it begins with "<cluster>-<job>: ", and the log has that
 * as fields, too, and the event that the line explains (EVENT_NONE: none). */
__attribute__((format(printf, 5, 6))) void core_trace_event(struct core *core,
                                                            const struct reservation *reservation,
                                                            enum event_kind event, int level,
                                                            const char *format, ...);
#define core_trace_of(core, reservation, level, ...)                                               \
    core_trace_event(core, reservation, EVENT_NONE, level, __VA_ARGS__)
#define core_trace(core, level, ...) core_trace_event(core, NULL, EVENT_NONE, level, __VA_ARGS__)

/* The answer, for what only some kinds of it have. */
struct answer *core_answer(struct core *core, uint64_t ticket, enum answer_kind kind,
                           const struct reservation *reservation, const char *detail);
void core_answer_no_cluster(struct core *core, uint64_t ticket, const char *cluster);
/* A request waits behind the others. */
struct waiter *core_wait(struct waiter **waiters, uint64_t ticket);
/* Answers all that wait; the list is empty then. CREATED is SAME to those that repeated. */
void core_answer_waiters(struct core *core, struct waiter **waiters, enum answer_kind kind,
                         const struct reservation *reservation, const char *detail);

/* Saves an event about a reservation and publishes it. detail may be NULL; proof: of the token that
 * a released one had, else 0 (tokenset.h). */
void core_publish(struct core *core, enum event_kind kind, const struct reservation *reservation,
                  const char *detail, uint64_t proof);
/* About a node and no job. */
void core_publish_node(struct core *core, enum event_kind kind, const char *node,
                       const char *detail);
/* About a shared VNI, for its owner and the clusters that it names: "<name>: VNI 1030 <words>". */
void core_publish_shared(struct core *core, enum event_kind kind, const struct shared_vni *one,
                         const char *words);
/* About a cluster and no job; cluster NULL: about all, or the link. */
void core_publish_cluster(struct core *core, enum event_kind kind, const char *cluster,
                          const char *detail);

/* Whether both are NULL, or the same text. */
static inline bool core_same_text(const char *a, const char *b)
{
    return !a || !b ? a == b : strcmp(a, b) == 0;
}
