/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/log/decisionlog.h"

#include "broker/log/log.h"
#include "core/reservation/reservation.h"

#include <stdio.h>

/* Limited apart from each other: what is about jobs can be much at once, what is not must not drown
 * in it. */
void decisionlog_trace(const struct effect *effect)
{
    static const char kinds[LOG_DEBUG + 1][2];
    const int level = effect->u.trace.level;
    const enum event_kind event = effect->u.trace.event;
    const struct log_fields fields = {.event = event != EVENT_NONE ? event_kind_word(event) : NULL,
                                      .cluster = effect->u.trace.cluster,
                                      .job = effect->u.trace.job,
                                      .vni = effect->u.trace.vni};
    log_text(level, &fields, &kinds[level & 7][fields.job != NULL], effect->u.trace.text);
}

/* Of the reservation that the event is about, if it is still there. */
static uint16_t vni_of(const struct core *core, const struct event_record *event)
{
    const struct reservation *r = event->job ? core_find(core, event->cluster, event->job) : NULL;
    return r && r->number == event->number && r->vni_count > 0 ? r->vnis[0] : 0;
}

/* Failures and the link have a trace, with the reason and the same fields: one line is enough. */
static const bool traced[EVENT_KIND_COUNT] = {
    [EVENT_DENIED] = true, [EVENT_TIMEOUT] = true, [EVENT_UNAVAILABLE] = true,
    [EVENT_LOST] = true,   [EVENT_LINK_UP] = true, [EVENT_LINK_DOWN] = true,
};

void decisionlog_event(const struct core *core, uint64_t seq)
{
    static const char kinds[EVENT_KIND_COUNT];
    const struct event_record *event = core_event_at(core, seq);
    /* On a busy machine most are left out, and then should cost next to nothing. */
    if (!event)
        return;
    const int level = traced[event->kind] ? LOG_DEBUG : LOG_INFO;
    if (!log_has_room(level, &kinds[event->kind], event_kind_word(event->kind)))
        return;
    const struct log_fields fields = {
        .event = event_kind_word(event->kind),
        .cluster = event->cluster,
        .job = event->job,
        .vni = vni_of(core, event),
    };
    char text[LOG_LINE_MAX];
    const char *detail = event->detail ? event->detail : "";
    const char *colon = detail[0] != '\0' ? ": " : "";
    if (event->job)
        (void)snprintf(text, sizeof text, "%s-%s: %s%s%s", event->cluster, event->job, fields.event,
                       colon, detail);
    else
        (void)snprintf(text, sizeof text, "%s%s%s", fields.event, colon, detail);
    log_text(level, &fields, NULL, text);
}
