/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/pieces.h"

#include "base/memory.h"

#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

enum { APART_MAX_MS = 20 };

struct pieces {
    struct pieces *next;
    struct core_event event;
    const char **ids;
    size_t count, sent;
    uint64_t process; /* that has heard the ones before */
    struct rng rng;
};

static void take_out(struct sim *sim, struct pieces *pieces)
{
    struct pieces **at = &sim->pieces;
    while (*at != pieces)
        at = &(*at)->next;
    *at = pieces->next;
    free(pieces->ids);
    free(pieces);
}

/* Of those that are left: all, or some, or for once none. */
static size_t next_count(struct pieces *pieces)
{
    size_t left = pieces->count - pieces->sent;
    if (left == 0 || rng_chance(&pieces->rng, 400))
        return left;
    return rng_below(&pieces->rng, (uint32_t)left + 1);
}

static void fill_in(struct core_event *event, const char *const *active, size_t count, bool more)
{
    if (event->kind == CORE_SYNC) {
        event->u.sync.active = active;
        event->u.sync.count = count;
        event->u.sync.more = more;
    } else {
        event->u.jobpoll.active = active;
        event->u.jobpoll.count = count;
        event->u.jobpoll.more = more;
    }
}

static void next_piece(struct sim *sim, void *what, uint64_t mark)
{
    struct pieces *pieces = what;
    (void)mark;
    if (!sim->edge.core || pieces->process != sim->edge.process) {
        take_out(sim, pieces);
        return;
    }
    size_t count = next_count(pieces);
    struct core_event event = pieces->event;
    bool more = pieces->sent + count < pieces->count;
    fill_in(&event, pieces->ids + pieces->sent, count, more);
    pieces->sent += count;
    if (more)
        sim_later(sim, rng_between(&pieces->rng, 0, APART_MAX_MS), next_piece, pieces, 0);
    edge_piece(sim, &event);
    if (!more)
        take_out(sim, pieces);
}

void pieces_send(struct sim *sim, const struct core_event *event)
{
    bool sync = event->kind == CORE_SYNC;
    const char *const *active = sync ? event->u.sync.active : event->u.jobpoll.active;
    struct pieces *pieces = memory_zeroed(sizeof *pieces);
    pieces->event = *event;
    pieces->count = sync ? event->u.sync.count : event->u.jobpoll.count;
    pieces->ids = memory_zeroed((pieces->count + 1) * sizeof *pieces->ids);
    if (pieces->count > 0)
        memcpy(pieces->ids, active, pieces->count * sizeof *pieces->ids);
    pieces->process = sim->edge.process;
    rng_init_for(&pieces->rng, sim->profile.seed, sync ? "sync" : "job list poll", sim->now_ms);
    pieces->next = sim->pieces;
    sim->pieces = pieces;
    next_piece(sim, pieces, 0);
}

void pieces_release(struct sim *sim)
{
    while (sim->pieces)
        take_out(sim, sim->pieces);
}
