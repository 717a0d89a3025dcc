/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/mintlimit.h"

#include <assert.h>
#include <stddef.h>

/* The reservation's; else the one that is free, or will be soonest: of its user's own if he has as
 * many as he may, else of all. */
static struct mintlimit_entry *find_entry(struct mintlimit *limit, uint64_t number, uint32_t uid,
                                          uint64_t now_ms)
{
    struct mintlimit_entry *first = &limit->entries[0], *first_of_user = NULL;
    unsigned of_user = 0;
    for (size_t i = 0; i < MINTLIMIT_RESERVATIONS; i++) {
        struct mintlimit_entry *entry = &limit->entries[i];
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
    return of_user >= MINTLIMIT_OF_USER ? first_of_user : first;
}

uint64_t mintlimit_take(struct mintlimit *limit, uint64_t number, uint32_t uid, uint64_t now_ms)
{
    static const uint64_t most_ms = (uint64_t)(MINTLIMIT_AT_ONCE - 1) * MINTLIMIT_EVERY_MS;
    assert(number > 0);
    struct mintlimit_entry *entry = find_entry(limit, number, uid, now_ms);
    const uint64_t due_ms = entry->cleared_ms > now_ms ? entry->cleared_ms - now_ms : 0;
    if (due_ms > 0 && entry->number != number)
        return due_ms; /* so many reservations make tokens that one more cannot be watched */
    if (due_ms > most_ms)
        return due_ms - most_ms;
    *entry = (struct mintlimit_entry){
        .number = number, .cleared_ms = now_ms + due_ms + MINTLIMIT_EVERY_MS, .uid = uid};
    return 0;
}
