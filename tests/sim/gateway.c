/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/gateway.h"

#include "tests/sim/grow.h"
#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_MS = 90000 };

void gateway_init(struct sim *sim)
{
    struct gateway *g = &sim->gateway;
    memset(g, 0, sizeof *g);
    rng_init(&g->rng, sim->profile.seed, 10);
    g->lie = (enum lie)rng_below(&g->rng, LIE_KINDS);
}

void gateway_release(struct sim *sim)
{
    free(sim->gateway.replica);
    memset(&sim->gateway, 0, sizeof sim->gateway);
}

/* ---- 404s that the fabric manager did not write ---- */

static void is_routed(struct sim *sim, void *what, uint64_t mark)
{
    (void)what, (void)mark;
    if (sim->gateway.unrouted > 0)
        sim_trace(sim, "gateway: has its route again");
    sim->gateway.unrouted = 0;
}

static void loses_route(struct sim *sim, void *what, uint64_t share)
{
    struct gateway *g = &sim->gateway;
    (void)what;
    if (!fault_possible(&sim->faults, FAULT_GATEWAY) || g->unrouted > 0)
        return;
    fault_count(&sim->faults, FAULT_GATEWAY);
    sim_trace(sim, "gateway: answers 404 to %llu of 1000 calls", (unsigned long long)share);
    g->unrouted = (uint32_t)share;
    sim_later(sim, rng_between(&g->rng, 100, LONGEST_MS), is_routed, NULL, 0);
}

bool gateway_unrouted(const struct sim *sim, struct rng *rng)
{
    return rng_chance(rng, sim->gateway.unrouted);
}

/* ---- what is untrue ---- */

static void tells_truth(struct sim *sim, void *what, uint64_t mark)
{
    struct gateway *g = &sim->gateway;
    (void)what, (void)mark;
    if (g->untrue > 0)
        sim_trace(sim, "fm: tells the truth again");
    g->untrue = 0;
    g->list_old = false;
}

static void keep_replica(struct sim *sim)
{
    struct gateway *g = &sim->gateway;
    g->replica_count = 0;
    for (size_t i = 0; i < sim->fabric.count; i++) {
        GROW(g->replica, g->replica_count, g->replica_room);
        g->replica[g->replica_count++] = sim->fabric.objects[i];
    }
    g->old_until_ms = sim->now_ms + rng_between(&g->rng, 1, sim->config.stray_grace_ms - 1);
    g->list_old = rng_chance(&g->rng, 500);
}

static void lies(struct sim *sim, void *what, uint64_t share)
{
    static const char *const words[LIE_KINDS] = {"nothing untrue",
                                                 "finds nothing by name",
                                                 "lists nothing",
                                                 "neither finds nor lists anything",
                                                 "neither finds nor lists anything at all",
                                                 "answers from an older state"};
    struct gateway *g = &sim->gateway;
    (void)what;
    if (!fault_possible(&sim->faults, FAULT_FM_LIES) || g->untrue > 0 || g->lie == LIE_NONE ||
        (g->lie == LIE_BOTH && g->used))
        return;
    int64_t longest = g->lie == LIE_ALL ? 4 * LONGEST_MS : LONGEST_MS;
    int64_t lasts = rng_between(&g->rng, 100, longest);
    if (g->lie == LIE_BOTH)
        lasts = rng_between(&g->rng, 1, sim->config.stray_grace_ms - 1);
    if (g->lie == LIE_STALE)
        keep_replica(sim);
    fault_count(&sim->faults, FAULT_FM_LIES);
    sim_trace(sim, "fm: %s, for %lld ms", words[g->lie], (long long)lasts);
    g->used = true;
    g->untrue = g->lie == LIE_ALL ? 1000 : (uint32_t)share;
    g->until_ms = sim->now_ms + lasts;
    sim_later(sim, lasts, tells_truth, NULL, 0);
}

/* Else what is reserved cannot be hidden from what reserves: the name is taken. What cleans up
 * after steps goes by other ways. */
bool gateway_hides(struct sim *sim, const struct wire_call *call)
{
    struct gateway *g = &sim->gateway;
    bool hides = g->lie == LIE_CHECKS || g->lie == LIE_BOTH || g->lie == LIE_ALL;
    bool kind = call->kind == FMCALL_CHECK || call->kind == FMCALL_RELEASE ||
                (call->kind == FMCALL_RESERVE && g->lie == LIE_ALL);
    return hides && kind && rng_chance(&g->rng, g->untrue);
}

enum fmcall_outcome gateway_hidden(struct sim *sim, const struct wire_call *call)
{
    if (call->kind == FMCALL_RELEASE)
        fabric_disown(sim, call->name);
    return call->kind == FMCALL_RESERVE ? FM_DENIED : FM_GONE;
}

static const struct object *find(const struct object *objects, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(objects[i].name, name) == 0)
            return &objects[i];
    return NULL;
}

const struct object *gateway_find(struct sim *sim, const char *name)
{
    struct gateway *g = &sim->gateway;
    if (g->lie == LIE_STALE && g->untrue > 0 && sim->now_ms < g->old_until_ms &&
        rng_chance(&g->rng, g->untrue))
        return find(g->replica, g->replica_count, name);
    return fabric_find(&sim->fabric, name);
}

enum list_view gateway_list(struct sim *sim, struct rng *rng)
{
    const struct gateway *g = &sim->gateway;
    bool untrue = rng_chance(rng, g->untrue);
    if (!untrue || g->lie == LIE_CHECKS)
        return LIST_TRUE;
    if (g->lie != LIE_STALE)
        return LIST_EMPTY;
    return g->list_old || sim->now_ms < g->old_until_ms ? LIST_OLD : LIST_TRUE;
}

bool gateway_found_nothing(const struct sim *sim)
{
    const struct gateway *g = &sim->gateway;
    return g->lie == LIE_ALL && sim->now_ms <= g->until_ms + 2 * sim->config.call_timeout_ms;
}

/* ---- when ---- */

void gateway_storm(struct sim *sim)
{
    static const uint64_t shares[] = {1000, 1000, 500, 100};
    struct rng *rng = &sim->gateway.rng;
    for (int i = 0; i < 2; i++) {
        sim_later(sim, rng_between(rng, 0, sim->profile.storm_ms), loses_route, NULL,
                  shares[rng_below(rng, 4)]);
        sim_later(sim, rng_between(rng, 0, sim->profile.storm_ms), lies, NULL,
                  shares[rng_below(rng, 4)]);
    }
}

void gateway_calm(struct sim *sim)
{
    is_routed(sim, NULL, 0);
    tells_truth(sim, NULL, 0);
}
