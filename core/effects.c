/* SPDX-License-Identifier: Apache-2.0 */
#include "core/effects.h"

#include "base/memory.h"
#include "core/reconcile/alarm.h"
#include "core/state.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct effect *core_effect(struct core *core, enum effect_kind kind)
{
    assert(core->effect_count <= core->effect_capacity);
    if (core->effect_count == core->effect_capacity) {
        core->effect_capacity = core->effect_capacity == 0 ? 64 : core->effect_capacity * 2;
        core->effects = memory_resized(core->effects, core->effect_capacity, sizeof *core->effects);
    }
    struct effect *effect = &core->effects[core->effect_count++];
    memset(effect, 0, sizeof *effect);
    effect->kind = kind;
    return effect;
}

void core_discard(struct core *core, void *memory)
{
    assert(core->discarded_count <= core->discarded_capacity);
    if (memory == NULL)
        return;
    if (core->discarded_count == core->discarded_capacity) {
        core->discarded_capacity =
            core->discarded_capacity == 0 ? 64 : core->discarded_capacity * 2;
        core->discarded =
            memory_resized(core->discarded, core->discarded_capacity, sizeof *core->discarded);
    }
    core->discarded[core->discarded_count++] = memory;
}

void core_effects_clear(struct core *core)
{
    assert(core->discarded_count <= core->discarded_capacity);
    core->effect_count = 0;
    for (size_t i = 0; i < core->discarded_count; i++)
        free(core->discarded[i]);
    core->discarded_count = 0;
}

const char *core_text(struct core *core, const char *format, ...)
{
    assert(format != NULL);
    char text[ERROR_TEXT_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *kept = memory_text(text);
    core_discard(core, kept);
    return kept;
}

__attribute__((format(printf, 3, 0))) static struct effect *
add_trace(struct core *core, int level, const char *format, va_list args)
{
    char text[2 * ERROR_TEXT_SIZE];
    (void)vsnprintf(text, sizeof text, format, args);
    char *kept = memory_text(text);
    core_discard(core, kept);
    struct effect *effect = core_effect(core, EFFECT_TRACE);
    effect->u.trace.level = level;
    effect->u.trace.text = kept;
    return effect;
}

void core_trace(struct core *core, int level, const char *format, ...)
{
    assert(level >= TRACE_ERROR && level <= TRACE_DEBUG);
    if (level > core->config.trace_level)
        return;
    va_list args;
    va_start(args, format);
    (void)add_trace(core, level, format, args);
    va_end(args);
}

__attribute__((format(printf, 5, 0))) static void add_trace_of(struct core *core,
                                                               const struct reservation *r,
                                                               enum event_kind event, int level,
                                                               const char *format, va_list args)
{
    if (level > core->config.trace_level)
        return;
    struct effect *effect = add_trace(core, level, format, args);
    effect->u.trace.cluster = r->cluster;
    effect->u.trace.job = r->job;
    effect->u.trace.vni = r->vni_count > 0 ? r->vnis[0] : 0;
    effect->u.trace.event = (uint8_t)event;
}

void core_trace_of(struct core *core, const struct reservation *r, int level, const char *format,
                   ...)
{
    assert(level >= TRACE_ERROR && level <= TRACE_DEBUG);
    va_list args;
    va_start(args, format);
    add_trace_of(core, r, EVENT_NONE, level, format, args);
    va_end(args);
}

void core_trace_event(struct core *core, const struct reservation *r, enum event_kind event,
                      int level, const char *format, ...)
{
    assert(event < EVENT_KIND_COUNT);
    va_list args;
    va_start(args, format);
    add_trace_of(core, r, event, level, format, args);
    va_end(args);
}

struct answer *core_answer(struct core *core, uint64_t ticket, enum answer_kind kind,
                           const struct reservation *reservation, const char *detail)
{
    assert(answer_status(kind) != 500);
    struct effect *effect = core_effect(core, EFFECT_ANSWER);
    effect->u.answer = (struct answer){
        .ticket = ticket, .kind = kind, .reservation = reservation, .detail = detail};
    return &effect->u.answer;
}

int answer_status(enum answer_kind kind)
{
    switch (kind) {
#define ANSWER_STATUS_(name, status, word)                                                         \
    case ANSWER_##name:                                                                            \
        return status;
        ANSWER_KINDS(ANSWER_STATUS_)
#undef ANSWER_STATUS_
    }
    return 500;
}

const char *answer_word(enum answer_kind kind)
{
    switch (kind) {
#define ANSWER_WORD_(name, status, word)                                                           \
    case ANSWER_##name:                                                                            \
        return word;
        ANSWER_KINDS(ANSWER_WORD_)
#undef ANSWER_WORD_
    }
    return "unknown";
}
