/* SPDX-License-Identifier: Apache-2.0 */
#include "core/publish.h"

#include "core/apply.h"
#include "core/effects.h"

#include <assert.h>

enum { PRUNE_AT_ONCE = 256 };

/* The last event that need not be kept any more; 0: too few for a deletion. */
static uint64_t events_beyond_limits(const struct core *core)
{
    assert(core->config.events_keep > 0);
    size_t kept = eventlog_count(&core->events);
    if (kept >= (size_t)core->config.events_keep + PRUNE_AT_ONCE)
        return core->last_seq - core->config.events_keep;
    /* By age in lots too: the last of the oldest lot tells for all of it. */
    if (core->config.events_age_ms == 0 || kept <= PRUNE_AT_ONCE)
        return 0;
    uint64_t last = core->events.first + PRUNE_AT_ONCE - 1;
    const struct event_record *event = eventlog_at(&core->events, last);
    assert(event != NULL);
    return event->time_ms + core->config.events_age_ms < core->now_ms ? last : 0;
}

static void prune_events(struct core *core)
{
    assert(core->step_seq <= core->last_seq);
    uint64_t up_to = events_beyond_limits(core);
    if (up_to > core->step_seq)
        up_to = core->step_seq; /* effects of this step point at what came after */
    if (up_to == 0 || up_to < core->events.first)
        return;
    core_save_prune(core, up_to);
}

static void publish_event(struct core *core, const struct event_record *event)
{
    assert(event->kind != EVENT_NONE && event->kind < EVENT_KIND_COUNT);
    struct record record = {.kind = RECORD_EVENT, .u.event = *event};
    record.u.event.seq = core->last_seq + 1;
    record.u.event.time_ms = core->now_ms;
    prune_events(core);
    core_apply_own(core, &record);
    const struct event_record *kept = eventlog_at(&core->events, record.u.event.seq);
    assert(kept != NULL);
    record.u.event = *kept;
    core_effect(core, EFFECT_SAVE)->u.record = record;
    core_effect(core, EFFECT_EVENT)->u.event = kept;
    core_trace(core, TRACE_DEBUG, "%s%s%s: event %llu, %s%s%s",
               kept->cluster != NULL ? kept->cluster : "link", kept->job != NULL ? "-" : "",
               kept->job != NULL ? kept->job : "", (unsigned long long)kept->seq,
               event_kind_word(kept->kind), kept->detail != NULL ? ": " : "",
               kept->detail != NULL ? kept->detail : "");
}

static struct event_record event_about(struct core *core, enum event_kind kind,
                                       const struct reservation *r, const char *detail)
{
    assert(reservation_valid(r));
    assert(kind < EVENT_KIND_COUNT);
    core_cluster(core, r->cluster)->told[kind]++;
    return (struct event_record){.number = r->number,
                                 .cluster = r->cluster,
                                 .job = r->job,
                                 .uid = r->uid,
                                 .detail = detail,
                                 .kind = (uint8_t)kind};
}

void core_publish(struct core *core, enum event_kind kind, const struct reservation *r,
                  const char *detail)
{
    assert(kind < EVENT_KIND_COUNT);
    struct event_record event = {.detail = detail, .kind = (uint8_t)kind};
    if (r != NULL)
        event = event_about(core, kind, r, detail);
    publish_event(core, &event);
}

void core_publish_released(struct core *core, const struct reservation *r, const char *why,
                           uint64_t proof)
{
    assert(r->state == JOB_RELEASING);
    struct event_record event = event_about(core, EVENT_RELEASED, r, why);
    event.proof = proof;
    publish_event(core, &event);
}

void core_publish_cluster(struct core *core, enum event_kind kind, const char *cluster,
                          const char *detail)
{
    assert(kind < EVENT_KIND_COUNT);
    publish_event(
        core, &(struct event_record){.cluster = cluster, .detail = detail, .kind = (uint8_t)kind});
}
