/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/pace.h"

#include <assert.h>
#include <stddef.h>

/* The reservation's; else the one that is free, or will be soonest: of its user's own if he has as
 * many as he may, else of all. */
static struct pace_entry *find_entry(struct pace *pace, uint64_t number, uint32_t uid,
                                     uint64_t now_ms)
{
    struct pace_entry *first = &pace->entries[0], *first_of_user = NULL;
    unsigned of_user = 0;
    for (size_t i = 0; i < PACE_ENTRIES; i++) {
        struct pace_entry *entry = &pace->entries[i];
        if (entry->number == number)
            return entry;
        if (entry->cleared_ms < first->cleared_ms)
            first = entry;
        if (entry->uid != uid || entry->cleared_ms <= now_ms)
            continue;
        of_user++;
        if (!first_of_user || entry->cleared_ms < first_of_user->cleared_ms)
            first_of_user = entry;
    }
    return of_user >= PACE_OF_USER ? first_of_user : first;
}

uint64_t pace_take(struct pace *pace, uint64_t number, uint32_t uid, uint64_t cost_ms,
                   uint64_t most_ms, uint64_t now_ms)
{
    assert(number > 0);
    struct pace_entry *entry = find_entry(pace, number, uid, now_ms);
    const uint64_t due_ms = entry->cleared_ms > now_ms ? entry->cleared_ms - now_ms : 0;
    if (due_ms > 0 && entry->number != number)
        return due_ms; /* there are so many that one more cannot be watched */
    if (due_ms > most_ms)
        return due_ms - most_ms;
    *entry =
        (struct pace_entry){.number = number, .cleared_ms = now_ms + due_ms + cost_ms, .uid = uid};
    return 0;
}
