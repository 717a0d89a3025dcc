/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/speed.h"

#include "core/fabric/reservewait.h"
#include "tests/sim/grow.h"
#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

/* Some that was known when it asked may be forgotten when it is given up. */
enum { REMEMBERED_MS = 5 * 60 * 1000 - RESERVEWAIT_MAX_MS, CHANGES_MAX = 6 };

static int64_t within(int64_t least, int64_t value, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

void speed_init(struct sim *sim)
{
    rng_init_for(&sim->speed.rng, sim->profile.seed, "speed", 0);
}

void speed_release(struct sim *sim)
{
    free(sim->speed.noted);
}

static void change(struct sim *sim, void *what, uint64_t mark)
{
    static const int64_t speeds[] = {0, 0, 300, 1500, 2500, 5000, 5000, 8000, 12000, 25000};
    (void)what, (void)mark;
    if (sim->phase != PHASE_STORM)
        return;
    sim->speed.reserve_ms = speeds[rng_below(&sim->speed.rng, sizeof speeds / sizeof *speeds)];
    sim_trace(sim, "fm: a reserve takes %lld ms", (long long)sim->speed.reserve_ms);
}

void speed_storm(struct sim *sim)
{
    sim->speed.reserve_ms = 0;
    for (uint32_t left = rng_below(&sim->speed.rng, CHANGES_MAX + 1);
         left > 0 && sim->profile.slows; left--)
        sim_later(sim, rng_between(&sim->speed.rng, 0, sim->profile.storm_ms), change, NULL, 0);
}

int64_t speed_of_reserve(const struct sim *sim)
{
    return sim->phase == PHASE_STORM ? sim->speed.reserve_ms : 0;
}

/* ---- what the broker knows ---- */

void speed_started(struct sim *sim)
{
    struct speed *speed = &sim->speed;
    speed->auto_ms = speed->known_ms = speed->shortest_ms = INT64_MAX;
    speed->longest_ms = speed->most_needed = 0;
    speed->count = 0;
    speed_configured(sim);
}

void speed_configured(struct sim *sim)
{
    struct speed *speed = &sim->speed;
    struct core_status status;
    if (sim->config.reserve_timeout_ms != RESERVE_TIMEOUT_AUTO)
        speed->auto_ms = INT64_MAX;
    else if (speed->auto_ms == INT64_MAX)
        speed->auto_ms = sim->now_ms;
    core_status(sim->edge.core, &status);
    if (status.reserve_took_ms < 0) { /* it is another fabric manager */
        speed->known_ms = INT64_MAX;
        speed->count = 0;
    }
}

void speed_ended(struct sim *sim, bool ok, int64_t took_ms)
{
    struct speed *speed = &sim->speed;
    if (!ok && speed->known_ms != INT64_MAX)
        return;
    if (speed->known_ms == INT64_MAX)
        speed->known_ms = sim->now_ms;
    GROW(speed->noted, speed->count, speed->room);
    speed->noted[speed->count].at_ms = sim->now_ms;
    speed->noted[speed->count++].took_ms = took_ms = ok ? took_ms : 0;
    speed->shortest_ms = took_ms < speed->shortest_ms ? took_ms : speed->shortest_ms;
    speed->longest_ms = took_ms > speed->longest_ms ? took_ms : speed->longest_ms;
}

/* ---- how long it may wait, and has to ---- */

void speed_asked(struct sim *sim, struct request *request, const struct core_status *before)
{
    struct speed *speed = &sim->speed;
    const uint32_t places = sim->config.calls_at_once;
    const uint32_t relayed = (places + 1) / 2;
    request->wait.by_itself = speed->auto_ms <= sim->now_ms;
    request->wait.needed =
        2 + (before->calls_queued_reserve + before->calls_in_flight + relayed) / places;
    if (request->wait.needed > speed->most_needed)
        speed->most_needed = request->wait.needed;
}

int64_t speed_latest(const struct sim *sim, const struct request *request)
{
    const struct speed *speed = &sim->speed;
    int64_t call_ms = speed->longest_ms, wait_ms;
    /* It may have joined one that began to wait when nothing was known. */
    bool known =
        speed->known_ms != INT64_MAX && request->asked_ms >= speed->known_ms + RESERVEWAIT_MAX_MS;
    if (!request->wait.by_itself)
        return INT64_MAX;
    if (!known && call_ms < sim->config.call_timeout_ms)
        call_ms = sim->config.call_timeout_ms;
    if (known && speed->shortest_ms > RESERVEWAIT_MAX_MS) /* it would wait in vain */
        call_ms = 0;
    wait_ms = within(RESERVEWAIT_MIN_MS, call_ms * (speed->most_needed + 1), RESERVEWAIT_MAX_MS);
    return request->asked_ms + wait_ms;
}

void speed_judge(struct sim *sim, const struct request *request, const struct told *told)
{
    const struct speed *speed = &sim->speed;
    int64_t shortest = INT64_MAX, longest = -1, waited = sim->now_ms - request->asked_ms;
    if (told->kind != ANSWER_CREATED || speed->auto_ms > request->asked_ms)
        return;
    if (told->hwcoll == HWCOLL_RESERVED)
        sim->result.slow_starts += waited > RESERVEWAIT_MIN_MS;
    if (told->hwcoll != HWCOLL_TIMEOUT)
        return;
    for (size_t i = speed->count; i > 0; i--) {
        const int64_t at = speed->noted[i - 1].at_ms, took = speed->noted[i - 1].took_ms;
        if (at >= request->asked_ms)
            continue;
        if (at < request->asked_ms - REMEMBERED_MS)
            break;
        longest = took > longest ? took : longest;
        shortest = took < shortest ? took : shortest;
    }
    if (speed->known_ms >= request->asked_ms) { /* nothing was known */
        longest = speed->count > 0 ? speed->noted[0].took_ms : sim->config.call_timeout_ms;
        shortest = speed->count > 0 ? speed->shortest_ms : 0;
    }
    if (longest < 0 || shortest * request->wait.needed > RESERVEWAIT_MAX_MS)
        return;
    if (waited < within(RESERVEWAIT_MIN_MS, 2 * longest, RESERVEWAIT_MAX_MS))
        sim_fail(sim, "F21",
                 "the reserve of %s was given up after %lld ms, and lately one took "
                 "%lld ms",
                 rm_job_name(request->job), (long long)waited, (long long)longest);
}
