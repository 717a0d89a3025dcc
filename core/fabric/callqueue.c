/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fabric/callqueue.h"

#include <assert.h>
#include <stddef.h>

void callqueue_push(struct callqueue *q, struct operation *op, enum lane lane,
                    enum fmcall_kind kind)
{
    assert(lane < LANES);
    assert(op->queued == FMCALL_NONE && op->call == 0 && kind != FMCALL_NONE);
    op->queued = kind;
    op->lane = (int)lane;
    op->queue_next = NULL;
    op->queue_prev = q->lanes[lane].last;
    if (op->queue_prev)
        op->queue_prev->queue_next = op;
    else
        q->lanes[lane].first = op;
    q->lanes[lane].last = op;
    q->lanes[lane].queued++;
}

void callqueue_remove(struct callqueue *q, struct operation *op)
{
    if (op->queued == FMCALL_NONE)
        return;
    assert(op->call == 0);
    if (op->queue_prev)
        op->queue_prev->queue_next = op->queue_next;
    else
        q->lanes[op->lane].first = op->queue_next;
    if (op->queue_next)
        op->queue_next->queue_prev = op->queue_prev;
    else
        q->lanes[op->lane].last = op->queue_prev;
    assert(q->lanes[op->lane].queued > 0);
    q->lanes[op->lane].queued--;
    op->queued = FMCALL_NONE;
}

static enum lane next_lane(const struct callqueue *q, uint32_t calls_at_once)
{
    assert(calls_at_once > 0);
    uint32_t reserves = q->lanes[LANE_RESERVE].in_flight;
    uint32_t cleanups = q->lanes[LANE_CLEANUP].in_flight;
    uint32_t relayed = q->lanes[LANE_RELAY].in_flight;
    uint32_t others = callqueue_in_flight(q) - reserves - relayed;
    if (callqueue_in_flight(q) >= calls_at_once)
        return LANES;
    if (q->lanes[LANE_RELAY].first && relayed < (calls_at_once + 1) / 2)
        return LANE_RELAY;
    if (q->lanes[LANE_RESERVE].first)
        return LANE_RESERVE;
    uint32_t kept_free = calls_at_once > 1 ? (calls_at_once + 3) / 4 : 0;
    if (others >= calls_at_once - kept_free)
        return LANES;
    /* With few places, its one would be all that is left to the others. */
    bool first = calls_at_once > 3 || !q->lanes[LANE_RELEASE].first;
    if (q->lanes[LANE_CLEANUP].first && cleanups < (calls_at_once + 7) / 8 && first)
        return LANE_CLEANUP;
    if (q->lanes[LANE_RELEASE].first)
        return LANE_RELEASE;
    return q->lanes[LANE_CHECK].first ? LANE_CHECK : LANES;
}

struct operation *callqueue_begin(struct callqueue *q, uint32_t calls_at_once)
{
    enum lane lane = next_lane(q, calls_at_once);
    if (lane == LANES)
        return NULL;
    struct operation *op = q->lanes[lane].first;
    enum fmcall_kind kind = op->queued;
    callqueue_remove(q, op);
    assert(kind != FMCALL_NONE && op->call == 0);
    op->in_flight = kind;
    op->call = ++q->last_id;
    op->queue_next = q->in_flight;
    q->in_flight = op;
    q->lanes[lane].in_flight++;
    return op;
}

uint32_t callqueue_in_flight(const struct callqueue *q)
{
    uint32_t calls = 0;
    for (int lane = 0; lane < LANES; lane++)
        calls += q->lanes[lane].in_flight;
    return calls;
}

uint32_t callqueue_ahead(const struct callqueue *q, uint32_t calls_at_once)
{
    assert(calls_at_once > 0);
    return (q->lanes[LANE_RESERVE].queued + callqueue_in_flight(q)) / calls_at_once;
}

struct operation *callqueue_end(struct callqueue *q, uint64_t id, enum fmcall_kind *kind)
{
    assert(kind);
    struct operation **at = &q->in_flight, *op;
    while ((op = *at) && op->call != id)
        at = &op->queue_next;
    if (!op)
        return NULL;
    assert(q->lanes[op->lane].in_flight > 0);
    q->lanes[op->lane].in_flight--;
    *at = op->queue_next;
    *kind = op->in_flight;
    op->call = 0;
    op->in_flight = FMCALL_NONE;
    return op;
}
