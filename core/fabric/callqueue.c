#include "core/fabric/callqueue.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void callqueue_init(struct callqueue *q)
{
    memset(q, 0, sizeof *q);
}

void callqueue_release(struct callqueue *q)
{
    free(q->slots);
    memset(q, 0, sizeof *q);
}

void callqueue_resize(struct callqueue *q, uint32_t calls_at_once)
{
    /* Never smaller: calls under way keep their places until they end. */
    if (calls_at_once <= q->slot_count)
        return;
    q->slots = memory_resized(q->slots, calls_at_once, sizeof *q->slots);
    memset(q->slots + q->slot_count, 0, (calls_at_once - q->slot_count) * sizeof *q->slots);
    q->slot_count = calls_at_once;
}

void callqueue_push(struct callqueue *q, struct errand *e, enum lane lane, enum fmcall_kind kind)
{
    assert(e->queued == FMCALL_NONE && e->call == 0 && kind != FMCALL_NONE);
    e->queued = kind;
    e->lane = (int)lane;
    e->queue_next = NULL;
    e->queue_prev = q->lanes[lane].last;
    if (e->queue_prev != NULL)
        e->queue_prev->queue_next = e;
    else
        q->lanes[lane].first = e;
    q->lanes[lane].last = e;
    q->lanes[lane].queued++;
}

void callqueue_remove(struct callqueue *q, struct errand *e)
{
    if (e->queued == FMCALL_NONE)
        return;
    if (e->queue_prev != NULL)
        e->queue_prev->queue_next = e->queue_next;
    else
        q->lanes[e->lane].first = e->queue_next;
    if (e->queue_next != NULL)
        e->queue_next->queue_prev = e->queue_prev;
    else
        q->lanes[e->lane].last = e->queue_prev;
    q->lanes[e->lane].queued--;
    e->queued = FMCALL_NONE;
}

static enum lane next_lane(const struct callqueue *q, uint32_t calls_at_once)
{
    uint32_t reserves = q->lanes[LANE_RESERVE].under_way;
    uint32_t cleanups = q->lanes[LANE_CLEANUP].under_way;
    uint32_t others = q->lanes[LANE_RELEASE].under_way + q->lanes[LANE_CHECK].under_way + cleanups;
    if (reserves + others >= calls_at_once)
        return LANES;
    if (q->lanes[LANE_RESERVE].first != NULL)
        return LANE_RESERVE;
    uint32_t kept_free = calls_at_once > 1 ? (calls_at_once + 3) / 4 : 0;
    if (others >= calls_at_once - kept_free)
        return LANES;
    /* With few places, its one would be all that is left to the others. */
    bool first = calls_at_once > 3 || q->lanes[LANE_RELEASE].first == NULL;
    if (q->lanes[LANE_CLEANUP].first != NULL && cleanups < (calls_at_once + 7) / 8 && first)
        return LANE_CLEANUP;
    if (q->lanes[LANE_RELEASE].first != NULL)
        return LANE_RELEASE;
    return q->lanes[LANE_CHECK].first != NULL ? LANE_CHECK : LANES;
}

struct errand *callqueue_begin(struct callqueue *q, uint32_t calls_at_once)
{
    enum lane lane = next_lane(q, calls_at_once);
    if (lane == LANES)
        return NULL;
    struct call_slot *slot = q->slots;
    while (slot->id != 0)
        slot++;
    struct errand *e = q->lanes[lane].first;
    enum fmcall_kind kind = e->queued;
    callqueue_remove(q, e);
    e->under_way = kind;
    e->call = ++q->last_id;
    *slot = (struct call_slot){.id = e->call, .errand = e, .lane = lane};
    q->lanes[lane].under_way++;
    return e;
}

struct errand *callqueue_end(struct callqueue *q, uint64_t id, enum fmcall_kind *kind)
{
    for (uint32_t i = 0; i < q->slot_count; i++) {
        struct call_slot *slot = &q->slots[i];
        if (slot->id != id || id == 0)
            continue;
        struct errand *e = slot->errand;
        q->lanes[slot->lane].under_way--;
        *kind = e->under_way;
        slot->id = 0;
        e->call = 0;
        e->under_way = FMCALL_NONE;
        return e;
    }
    return NULL;
}
