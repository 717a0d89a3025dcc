/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/eventlog.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void eventlog_release(struct eventlog *log)
{
    for (uint64_t seq = log->first; seq < log->next; seq++)
        free(log->ring[seq & (log->capacity - 1)]);
    free(log->ring);
    *log = (struct eventlog){0};
}

/* The event and its texts in one block. */
static struct event_record *copy_event(const struct event_record *event)
{
    const char *texts[] = {event->cluster, event->job, event->detail};
    size_t lengths[3], size = sizeof *event;
    for (int i = 0; i < 3; i++) {
        lengths[i] = texts[i] ? strlen(texts[i]) + 1 : 0;
        size += lengths[i];
    }
    struct event_record *kept = memory_zeroed(size);
    char *at = (char *)(kept + 1);
    *kept = *event;
    const char **places[] = {&kept->cluster, &kept->job, &kept->detail};
    for (int i = 0; i < 3; i++) {
        if (texts[i])
            *places[i] = memcpy(at, texts[i], lengths[i]);
        at += lengths[i];
    }
    return kept;
}

void eventlog_append(struct eventlog *log, const struct event_record *event)
{
    if (eventlog_count(log) == 0)
        log->first = log->next = event->seq;
    assert(event->seq == log->next);
    if (eventlog_count(log) == log->capacity) {
        size_t capacity = log->capacity == 0 ? 256 : log->capacity * 2;
        struct event_record **ring = memory_zeroed(capacity * sizeof *ring);
        for (uint64_t seq = log->first; seq < log->next; seq++)
            ring[seq & (capacity - 1)] = log->ring[seq & (log->capacity - 1)];
        free(log->ring);
        log->ring = ring;
        log->capacity = capacity;
    }
    log->ring[event->seq & (log->capacity - 1)] = copy_event(event);
    log->next++;
    assert(log->next == event->seq + 1);
}

void eventlog_prune(struct eventlog *log, uint64_t up_to)
{
    assert(log->next >= log->first);
    for (; log->first < log->next && log->first <= up_to; log->first++) {
        free(log->ring[log->first & (log->capacity - 1)]);
        log->ring[log->first & (log->capacity - 1)] = NULL;
    }
}

const struct event_record *eventlog_at(const struct eventlog *log, uint64_t seq)
{
    return seq >= log->first && seq < log->next ? log->ring[seq & (log->capacity - 1)] : NULL;
}

size_t eventlog_count(const struct eventlog *log)
{
    assert(log->next >= log->first);
    return (size_t)(log->next - log->first);
}
