/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CORE_EFFECTS_H
#define MCAST_CORE_EFFECTS_H

#include "core/state.h"

#include <string.h>

/* Wanting something done: each fills one effect of the step that is under way. */

struct effect *core_effect(struct core *core, enum effect_kind kind); /* a new one, to be filled */
void core_discard(struct core *core, void *memory);
/* Text that lives until the next step. */
__attribute__((format(printf, 2, 3))) const char *core_text(struct core *core, const char *format,
                                                            ...);
__attribute__((format(printf, 3, 4))) void core_trace(struct core *core, int level,
                                                      const char *format, ...);
/* The same about a reservation, which the log then has as fields too; and of what is published
 * about it (EVENT_NONE: nothing). */
__attribute__((format(printf, 5, 6))) void core_trace_event(struct core *core,
                                                            const struct reservation *reservation,
                                                            enum event_kind event, int level,
                                                            const char *format, ...);
__attribute__((format(printf, 4, 5))) void core_trace_of(struct core *core,
                                                         const struct reservation *reservation,
                                                         int level, const char *format, ...);
void core_effects_clear(struct core *core);
/* The answer, for what only some kinds of it have. */
struct answer *core_answer(struct core *core, uint64_t ticket, enum answer_kind kind,
                           const struct reservation *reservation, const char *detail);

/* Whether both are NULL, or the same text. */
static inline bool core_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

enum { TRACE_ERROR = 3, TRACE_WARNING = 4, TRACE_NOTICE = 5, TRACE_INFO = 6, TRACE_DEBUG = 7 };

#endif
