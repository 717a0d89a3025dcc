#include "broker/chronicle.h"

#include "broker/log.h"
#include "core/reservation.h"

#include <stdio.h>

/* Limited apart from each other: what is about jobs can be much at once, what is not must not drown
 * in it. */
void chronicle_trace(const struct effect *effect)
{
    static const char kinds[LOG_DEBUG + 1][2];
    const int level = effect->u.trace.level;
    const struct log_fields fields = {
        .cluster = effect->u.trace.cluster, .job = effect->u.trace.job, .vni = effect->u.trace.vni};
    log_text(level, &fields, &kinds[level & 7][fields.job != NULL], effect->u.trace.text);
}

static int level_of_event(int kind)
{
    switch ((enum event_kind)kind) {
    case EVENT_LOST:
        return LOG_WARNING;
    case EVENT_DENIED:
    case EVENT_TIMEOUT:
    case EVENT_UNAVAILABLE:
        return LOG_NOTICE;
    default:
        return LOG_INFO;
    }
}

void chronicle_event(const struct core *core, uint64_t seq)
{
    static const char kinds[EVENT_KIND_COUNT];
    const struct event_record *event = core_event_at(core, seq);
    if (event == NULL || !log_wants(level_of_event(event->kind)))
        return;
    const struct reservation *found =
        event->job != NULL ? core_find(core, event->cluster, event->job) : NULL;
    const char *word = event_kind_word(event->kind);
    const struct log_fields fields = {
        .event = word,
        .cluster = event->cluster,
        .job = event->job,
        .vni = found != NULL && found->number == event->number && found->vni_count > 0
                   ? found->vnis[0]
                   : 0,
    };
    char text[LOG_LINE_MAX];
    bool detailed = event->detail != NULL && event->detail[0] != '\0';
    if (event->job != NULL)
        (void)snprintf(text, sizeof text, "%s-%s: %s%s%s", event->cluster, event->job, word,
                       detailed ? ": " : "", detailed ? event->detail : "");
    else
        (void)snprintf(text, sizeof text, "%s%s%s", word, detailed ? ": " : "",
                       detailed ? event->detail : "");
    log_text(level_of_event(event->kind), &fields, &kinds[event->kind], text);
}
