/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fabric/reservewait.h"

#include "core/state.h"

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

/* ---- of one reservation ---- */

static int64_t reserve_time(const struct core *core, const struct reservation *r)
{
    assert(r->op);
    const struct core_config *config = &core->config;
    if (!reservation_waits(r))
        return config->relay_timeout_ms;
    if (config->reserve_timeout_ms != RESERVE_TIMEOUT_AUTO)
        return config->reserve_timeout_ms;
    return reservewait_time(&core->reservewait, config->call_timeout_ms, r->op->calls_needed);
}

void core_give_up_in_time(const struct core *core, struct reservation *r)
{
    assert(r->hwcoll == HWCOLL_WANTED && r->op);
    struct operation *op = r->op;
    const bool first = op->give_up_ms == 0;
    if (first) {
        /* What is in its way goes first: of others when there is no room, or of an earlier life. */
        op->calls_needed = 1 + callqueue_ahead(&core->calls, core->config.calls_at_once) +
                           (r->fm_side == FM_SIDE_NOTHING || r->older);
        op->asked_ms = core->now_ms;
    }
    if (core->config.reserve_timeout_ms != RESERVE_TIMEOUT_AUTO || !reservation_waits(r))
        op->calls_needed = 0;
    int64_t latest = core->now_ms + reserve_time(core, r);
    if (first || (op->calls_needed == 0 && op->give_up_ms > latest))
        op->give_up_ms = latest;
}

/* Until when it waits by what is known now; as before where the site has said how long. */
static int64_t give_up_by_now(const struct core *core, const struct reservation *r)
{
    assert(r->hwcoll == HWCOLL_WANTED);
    if (r->op->calls_needed == 0 || core->config.reserve_timeout_ms != RESERVE_TIMEOUT_AUTO)
        return r->op->give_up_ms;
    return r->op->asked_ms + reserve_time(core, r);
}

void core_give_up_sooner(const struct core *core, struct reservation *r)
{
    assert(r->op);
    int64_t latest = give_up_by_now(core, r);
    if (r->op->give_up_ms > latest)
        r->op->give_up_ms = latest;
}

bool core_put_off_giving_up(const struct core *core, struct reservation *r)
{
    assert(r->op->give_up_ms <= core->now_ms);
    int64_t latest = give_up_by_now(core, r);
    if (latest <= core->now_ms)
        return false;
    r->op->give_up_ms = latest;
    return true;
}
