/* SPDX-License-Identifier: Apache-2.0 */
#include "core/emit.h"

#include "base/memory.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct effect *core_effect(struct core *core, enum effect_kind kind)
{
    assert(core->effect_count <= core->effect_capacity);
    core->effects = memory_room(core->effects, core->effect_count, &core->effect_capacity,
                                sizeof *core->effects);
    struct effect *effect = &core->effects[core->effect_count++];
    *effect = (struct effect){.kind = kind};
    return effect;
}

void core_discard(struct core *core, void *memory)
{
    assert(core->discarded_count <= core->discarded_capacity);
    if (!memory)
        return;
    core->discarded = memory_room(core->discarded, core->discarded_count, &core->discarded_capacity,
                                  sizeof *core->discarded);
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
    assert(format);
    char text[ERROR_TEXT_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *kept = memory_text(text);
    core_discard(core, kept);
    return kept;
}

void core_trace_event(struct core *core, const struct reservation *r, enum event_kind event,
                      int level, const char *format, ...)
{
    assert(level >= TRACE_ERROR && level <= TRACE_DEBUG);
    assert(event == EVENT_NONE || r);
    char text[2 * ERROR_TEXT_SIZE] = "";
    if (level > core->config.trace_level)
        return;
    if (r)
        (void)snprintf(text, sizeof text, "%s-%s: ", r->cluster, r->job);
    size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text + length, sizeof text - length, format, args);
    va_end(args);
    char *kept = memory_text(text);
    core_discard(core, kept);
    struct effect *effect = core_effect(core, EFFECT_TRACE);
    effect->u.trace.level = level;
    effect->u.trace.text = kept;
    if (!r)
        return;
    effect->u.trace.cluster = r->cluster;
    effect->u.trace.job = r->job;
    effect->u.trace.vni = r->vni_count > 0 ? r->vnis[0] : 0;
    effect->u.trace.event = (uint8_t)event;
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

void core_answer_no_cluster(struct core *core, uint64_t ticket, const char *cluster)
{
    assert(cluster);
    char text[NO_CLUSTER_SIZE];
    core_answer(core, ticket, ANSWER_NO_CLUSTER, NULL,
                core_text(core, "%s", core_config_no_cluster(&core->config, cluster, text)));
}

struct waiter *core_wait(struct waiter **waiters, uint64_t ticket)
{
    assert(waiters);
    while (*waiters)
        waiters = &(*waiters)->next;
    *waiters = memory_zeroed(sizeof **waiters);
    (*waiters)->ticket = ticket;
    return *waiters;
}

void core_answer_waiters(struct core *core, struct waiter **waiters, enum answer_kind kind,
                         const struct reservation *r, const char *detail)
{
    assert(waiters);
    for (struct waiter *w; (w = *waiters);) {
        *waiters = w->next;
        core_answer(core, w->ticket, kind == ANSWER_CREATED && w->repeat ? ANSWER_SAME : kind, r,
                    detail);
        free(w);
    }
}

/* ---- events ---- */

enum { PRUNE_AT_ONCE = 256 };

/* Drops what is beyond the limits; in lots, so that not every step costs the disk a deletion. */
static void prune_events(struct core *core)
{
    assert(core->step_seq <= core->last_seq);
    size_t kept = eventlog_count(&core->events);
    uint64_t up_to = core->events.first + PRUNE_AT_ONCE - 1; /* stands for its lot */
    if (kept >= (size_t)core->config.events_keep + PRUNE_AT_ONCE)
        up_to = core->last_seq - core->config.events_keep;
    else if (core->config.events_age_ms == 0 || kept <= PRUNE_AT_ONCE ||
             eventlog_at(&core->events, up_to)->time_ms + core->config.events_age_ms >=
                 core->now_ms)
        return;
    if (up_to > core->step_seq)
        up_to = core->step_seq; /* effects of this step point at what came after */
    if (up_to >= core->events.first)
        core_save_record(core, (struct record){.kind = RECORD_PRUNE, .u.prune = up_to});
}

static void publish_event(struct core *core, struct event_record event)
{
    assert(event.kind != EVENT_NONE && event.kind < EVENT_KIND_COUNT);
    event.seq = core->last_seq + 1;
    event.time_ms = core->now_ms;
    prune_events(core);
    core_save_record(core, (struct record){.kind = RECORD_EVENT, .u.event = event});
    const struct event_record *kept = eventlog_at(&core->events, event.seq);
    assert(kept);
    core_effect(core, EFFECT_EVENT)->u.event = kept;
    core_trace(core, TRACE_DEBUG, "%s%s%s: event %llu, %s%s%s",
               kept->cluster ? kept->cluster
               : kept->node  ? kept->node
                             : "link",
               kept->job ? "-" : "", kept->job ? kept->job : "", (unsigned long long)kept->seq,
               event_kind_word(kept->kind), kept->detail ? ": " : "",
               kept->detail ? kept->detail : "");
}

void core_publish(struct core *core, enum event_kind kind, const struct reservation *r,
                  const char *detail, uint64_t proof)
{
    assert(reservation_valid(r));
    core_cluster(core, r->cluster)->published[kind]++;
    struct event_record event = {.number = r->number,
                                 .cluster = r->cluster,
                                 .job = r->job,
                                 .uid = r->uid,
                                 .detail = detail,
                                 .proof = proof,
                                 .node_count = r->node_count,
                                 .addresses = r->hwcoll == HWCOLL_RESERVED ? r->addresses : 0,
                                 .vni_count = r->vni_count,
                                 .state = r->state,
                                 .kind = (uint8_t)kind};
    memcpy(event.vnis, r->vnis, sizeof event.vnis);
    publish_event(core, event);
}

void core_publish_cluster(struct core *core, enum event_kind kind, const char *cluster,
                          const char *detail)
{
    assert(kind < EVENT_KIND_COUNT);
    publish_event(
        core, (struct event_record){.cluster = cluster, .detail = detail, .kind = (uint8_t)kind});
}

void core_publish_node(struct core *core, enum event_kind kind, const char *node,
                       const char *detail)
{
    assert(node);
    publish_event(core,
                  (struct event_record){.node = node, .detail = detail, .kind = (uint8_t)kind});
}

void core_publish_shared(struct core *core, enum event_kind kind, const struct shared_vni *one,
                         const char *words)
{
    const struct shared_vni_record *rec = &one->record;
    const char *detail = core_text(core, "%s: VNI %u %s", rec->name, rec->vni, words);
    core_trace(core, kind == EVENT_VNI_FOREIGN ? TRACE_WARNING : TRACE_INFO, "shared VNI %s",
               detail);
    publish_event(core, (struct event_record){.uid = rec->uid,
                                              .detail = detail,
                                              .clusters = rec->clusters,
                                              .kind = (uint8_t)kind});
}
