/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reconcile/alarm.h"

#include "base/memory.h"
#include "core/emit.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word, *advice;
} kinds[] = {
#define ALARM_WORDS_(name, word, advice) {word, advice},
    ALARM_KINDS(ALARM_WORDS_)
#undef ALARM_WORDS_
};

const char *alarm_kind_word(enum alarm_kind kind)
{
    assert(kind < ALARM_KIND_COUNT);
    return kinds[kind].word;
}

const char *alarm_kind_advice(enum alarm_kind kind)
{
    assert(kind < ALARM_KIND_COUNT);
    return kinds[kind].advice;
}

/* Where the pointer to the alarm is, or would be. */
static struct alarm **find_alarm(struct alarm **first, enum alarm_kind kind, const char *cluster)
{
    assert(kind < ALARM_KIND_COUNT);
    while (*first && ((*first)->kind != kind || !core_same_text((*first)->cluster, cluster)))
        first = &(*first)->next;
    return first;
}

bool alarm_on(const struct core *core, enum alarm_kind kind, const char *cluster)
{
    assert(kind < ALARM_KIND_COUNT);
    struct alarm *first = core->alarms;
    return *find_alarm(&first, kind, cluster);
}

static void publish_alarm(struct core *core, enum event_kind event, const struct alarm *alarm)
{
    assert(event == EVENT_ALARM || event == EVENT_ALARM_OVER);
    const char *text = core_text(core, "%s%s%s: %s", alarm_kind_word(alarm->kind),
                                 alarm->cluster ? " of cluster " : "",
                                 alarm->cluster ? alarm->cluster : "", alarm->detail);
    core_publish_cluster(core, event, alarm->cluster, text);
    if (event == EVENT_ALARM)
        core_trace(core, TRACE_ERROR, "ALARM %s -> %s", text, alarm_kind_advice(alarm->kind));
    else
        core_trace(core, TRACE_NOTICE, "alarm over: %s", text);
}

void alarm_raise(struct core *core, enum alarm_kind kind, const char *cluster, const char *format,
                 ...)
{
    assert(kind < ALARM_KIND_COUNT);
    struct alarm **at = find_alarm(&core->alarms, kind, cluster), *alarm = *at;
    bool news = !alarm;
    va_list args;
    if (news) {
        alarm = *at = memory_zeroed(sizeof *alarm);
        alarm->kind = kind;
        alarm->cluster = cluster ? core_cluster(core, cluster)->name : NULL;
        alarm->since_ms = core->now_ms;
    }
    va_start(args, format);
    (void)vsnprintf(alarm->detail, sizeof alarm->detail, format, args);
    va_end(args);
    if (news)
        publish_alarm(core, EVENT_ALARM, alarm);
}

void alarm_clear(struct core *core, enum alarm_kind kind, const char *cluster)
{
    assert(kind < ALARM_KIND_COUNT);
    struct alarm **at = find_alarm(&core->alarms, kind, cluster), *alarm = *at;
    if (!alarm)
        return;
    publish_alarm(core, EVENT_ALARM_OVER, alarm);
    *at = alarm->next;
    free(alarm);
}

void alarm_release(struct core *core)
{
    for (struct alarm *alarm = core->alarms, *next; alarm; alarm = next) {
        next = alarm->next;
        free(alarm);
    }
}
