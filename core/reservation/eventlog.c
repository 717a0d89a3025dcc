/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/eventlog.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void eventlog_release(struct eventlog *log)
{
    eventlog_prune(log, UINT64_MAX);
    free(log->all);
    *log = (struct eventlog){0};
}

/* The event and its texts in one block. */
static struct event_record *copy_event(const struct event_record *event)
{
    const char *texts[] = {event->cluster, event->job, event->detail, event->node, event->clusters};
    enum { TEXTS = sizeof texts / sizeof *texts };
    size_t lengths[TEXTS], size = sizeof *event;
    for (int i = 0; i < TEXTS; i++) {
        lengths[i] = texts[i] ? strlen(texts[i]) + 1 : 0;
        size += lengths[i];
    }
    struct event_record *kept = memory_zeroed(size);
    char *at = (char *)(kept + 1);
    *kept = *event;
    const char **places[] = {&kept->cluster, &kept->job, &kept->detail, &kept->node,
                             &kept->clusters};
    for (int i = 0; i < TEXTS; i++) {
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
    size_t count = eventlog_count(log);
    log->all = memory_room(log->all, count, &log->capacity, sizeof *log->all);
    log->all[count] = copy_event(event);
    log->next++;
}

void eventlog_prune(struct eventlog *log, uint64_t up_to)
{
    size_t count = eventlog_count(log), dropped = 0;
    assert(count <= log->capacity);
    while (dropped < count && log->first + dropped <= up_to)
        free(log->all[dropped++]);
    if (dropped == 0)
        return;
    log->first += dropped;
    memmove(log->all, log->all + dropped, (count - dropped) * sizeof *log->all);
}

const struct event_record *eventlog_at(const struct eventlog *log, uint64_t seq)
{
    assert(log->first <= log->next);
    return seq >= log->first && seq < log->next ? log->all[seq - log->first] : NULL;
}

size_t eventlog_count(const struct eventlog *log)
{
    assert(log->next >= log->first);
    return (size_t)(log->next - log->first);
}
