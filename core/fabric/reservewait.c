/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fabric/reservewait.h"

#include <assert.h>

enum { SPAN_MS = 5 * 60 * 1000, SPAN_RESERVES = 32 };

void reservewait_note(struct reservewait *wait, int64_t now_ms, int64_t took_ms)
{
    struct reservewait_span *span = &wait->now;
    assert(took_ms >= 0);
    assert(now_ms >= wait->since_ms);
    if (took_ms > RESERVEWAIT_MAX_MS) /* longer ones are all alike */
        took_ms = RESERVEWAIT_MAX_MS + 1;
    if (span->count >= SPAN_RESERVES && now_ms - wait->since_ms >= SPAN_MS) {
        wait->before = *span;
        span->count = 0;
    }
    if (span->count == 0) {
        *span = (struct reservewait_span){.shortest_ms = took_ms};
        wait->since_ms = now_ms;
    }
    span->count++;
    if (took_ms < span->shortest_ms)
        span->shortest_ms = took_ms;
    if (took_ms > span->longest_ms)
        span->longest_ms = took_ms;
}

int64_t reservewait_longest(const struct reservewait *wait)
{
    const int64_t now = wait->now.longest_ms, before = wait->before.longest_ms;
    assert(wait->now.count > 0 || wait->before.count == 0);
    if (wait->now.count == 0)
        return -1;
    return now > before ? now : before;
}

int64_t reservewait_time(const struct reservewait *wait, int64_t call_timeout_ms, uint32_t calls)
{
    int64_t shortest = wait->now.shortest_ms, longest = reservewait_longest(wait);
    assert(call_timeout_ms > 0);
    if (wait->before.count > 0 && wait->before.shortest_ms < shortest)
        shortest = wait->before.shortest_ms;
    if (shortest * calls > RESERVEWAIT_MAX_MS)
        return RESERVEWAIT_MIN_MS;
    const int64_t time = (longest < 0 ? call_timeout_ms : longest) * ((int64_t)calls + 1);
    return time < RESERVEWAIT_MIN_MS   ? RESERVEWAIT_MIN_MS
           : time > RESERVEWAIT_MAX_MS ? RESERVEWAIT_MAX_MS
                                       : time;
}
