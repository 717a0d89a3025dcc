/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/bearer.h"

#include "base/memory.h"
#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

enum { CROWD = 40, LATE_MS = 90000, JOIN_CHANCE = 800 };

void bearer_init(struct sim *sim)
{
    sim->bearers.all = memory_zeroed((sim->rm.job_count + 1) * sizeof *sim->bearers.all);
    for (size_t i = 0; i < sim->rm.job_count; i++) {
        sim->bearers.all[i].job = sim->rm.jobs[i];
        rng_init(&sim->bearers.all[i].rng, sim->profile.seed, 100000 + i);
    }
}

void bearer_release(struct sim *sim)
{
    free(sim->bearers.all);
    sim->bearers.all = NULL;
}

static struct bearer *bearer_of(const struct sim *sim, const struct job *job)
{
    struct bearer *b = sim->bearers.all;
    while (b->job != job)
        b++;
    return b;
}

struct rng *bearer_dice(struct sim *sim, const struct job *job)
{
    return &bearer_of(sim, job)->rng;
}

/* ---- trees ---- */

static bool was_asked(const struct sim *sim, uint64_t number, int step)
{
    for (size_t i = 0; i < sim->asks.count; i++) {
        const struct ask *ask = &sim->asks.all[i];
        if (ask->number == number && steps_covered(step, ask->step, ask->below))
            return true;
    }
    return false;
}

/* A step that lives on although somebody takes it for dead makes another one now and then. */
static void make_tree(struct sim *sim, struct bearer *b, uint64_t number, int step)
{
    const struct entry *e = model_entry(&sim->model, number);
    if (!e || (!e->token[0] && !e->relayed) ||
        (was_asked(sim, number, step) && !fault_happens(&sim->faults, FAULT_STEP_LIVES, &b->rng)))
        return;
    if (e->relayed)
        joins_begin(sim, b->job, number, step);
    else
        fabric_make_tree(sim, e->token, step);
}

/* ---- asking ---- */

bool bearer_may(const struct cleanup_wish *wish)
{
    for (size_t i = 0; i < wish->scope_count; i++)
        if (!steps_within(wish->step, wish->scopes[i]))
            return false;
    return true;
}

static void draw_scopes(struct sim *sim, struct rng *rng, struct cleanup_wish *wish)
{
    wish->scope_count = rng_below(rng, SCOPES_MAX + 1);
    for (size_t i = 0; i < wish->scope_count; i++) {
        bool any = fault_happens(&sim->faults, FAULT_ASK_OUTSIDE, rng);
        int scope = (int)rng_below(rng, STEPS);
        wish->scopes[i] = any || steps_within(wish->step, scope) ? scope : wish->step;
        wish->scope_names[i] = steps_name(wish->scopes[i]);
    }
}

static struct cleanup_wish draw_wish(struct sim *sim, struct rng *rng, uint64_t number)
{
    static const int64_t waits[] = {0, 0, 0, 500, 5000, 30000};
    struct cleanup_wish wish = {.number = number,
                                .step = (int)rng_below(rng, STEPS),
                                .below = rng_chance(rng, 400),
                                .wait_ms = waits[rng_below(rng, 6)]};
    draw_scopes(sim, rng, &wish);
    return wish;
}

static void send(struct sim *sim, struct bearer *b, const struct cleanup_wish *wish,
                 int64_t travel_ms)
{
    struct request *request = rm_request(sim, REQUEST_CLEANUP, b->job);
    request->cleanup = *wish;
    rm_send(sim, request, travel_ms);
}

static void ask(struct sim *sim, struct bearer *b, const struct cleanup_wish *wish)
{
    struct rng *rng = &b->rng;
    int64_t travels = rng_between(rng, 0, sim->profile.net_ms);
    if (fault_happens(&sim->faults, FAULT_ASK_LATE, rng))
        travels += rng_between(rng, 1000, LATE_MS);
    send(sim, b, wish, travels);
    if (fault_happens(&sim->faults, FAULT_ASK_TWICE, rng))
        send(sim, b, wish, travels + rng_between(rng, 0, 3000));
}

static void ask_once(struct sim *sim, struct bearer *b, uint64_t number)
{
    struct cleanup_wish wish = draw_wish(sim, &b->rng, number);
    if (rng_chance(&b->rng, 500)) /* what it leaves behind */
        make_tree(sim, b, number, wish.step);
    ask(sim, b, &wish);
}

/* What is left of a step goes, while it makes more of it: that must go, too, when it is asked for
 * after. */
static void ask_and_ask_again(struct sim *sim, void *what, uint64_t number)
{
    struct bearer *b = what;
    struct cleanup_wish wish = draw_wish(sim, &b->rng, number);
    for (int i = 0; i < 4; i++) {
        make_tree(sim, b, number, wish.step);
        send(sim, b, &wish, 0);
        wish.below |= rng_chance(&b->rng, 100);
    }
}

static void look(struct sim *sim, struct bearer *b)
{
    static const int64_t waits[] = {100, 2000, 10000};
    struct request *request = rm_request(sim, REQUEST_STEPS, b->job);
    request->cleanup.wait_ms = waits[rng_below(&b->rng, 3)];
    rm_send(sim, request, rng_between(&b->rng, 0, sim->profile.net_ms));
}

static void act(struct sim *sim, void *what, uint64_t number)
{
    struct bearer *b = what;
    if (sim->phase != PHASE_STORM)
        return;
    uint32_t die = rng_below(&b->rng, 1000);
    if (die < 500) {
        make_tree(sim, b, number, (int)rng_below(&b->rng, STEPS));
    } else if (die < 870) {
        ask_once(sim, b, number);
    } else if (die < 940) {
        look(sim, b);
    } else if (die < 990) {
        sim_later(sim, 0, ask_and_ask_again, b, number);
        sim_later(sim, rng_between(&b->rng, 0, 4 * sim->profile.net_ms), ask_and_ask_again, b,
                  number);
    } else {
        for (int i = 0; i < CROWD; i++)
            ask_once(sim, b, number);
    }
}

void bearer_begins(struct sim *sim, struct job *job, const struct told *told)
{
    struct bearer *b = bearer_of(sim, job);
    const struct entry *e = model_entry(&sim->model, told->number);
    uint32_t chance = sim->profile.bearers;
    if (e && e->relayed)
        chance = chance > JOIN_CHANCE ? chance : JOIN_CHANCE;
    else if (!told->token[0])
        chance /= 8;
    if (!rng_chance(&b->rng, chance))
        return;
    uint32_t acts = 1 + rng_below(&b->rng, 24);
    for (uint32_t i = 0; i < acts; i++)
        sim_later(sim, rng_between(&b->rng, 0, sim->profile.run_ms), act, b, told->number);
}

void bearer_ends(struct sim *sim, struct job *job)
{
    struct bearer *b = bearer_of(sim, job);
    if (sim->phase != PHASE_STORM || !job->told || !rng_chance(&b->rng, sim->profile.bearers))
        return;
    uint32_t asks = rng_below(&b->rng, 6);
    for (uint32_t i = 0; i < asks; i++)
        ask_once(sim, b, job->told_number);
}

void bearer_event(const struct sim *sim, const struct request *request, struct core_event *event)
{
    const struct cleanup_wish *wish = &request->cleanup;
    if (request->kind == REQUEST_STEPS) {
        event->kind = CORE_STEPS;
        event->ticket = request->ticket;
        event->u.steps.cluster = sim->config.clusters[request->cluster].name;
        event->u.steps.job = request->job->id;
        event->u.steps.wait_ms = wish->wait_ms;
        return;
    }
    event->kind = CORE_CLEANUP;
    event->ticket = request->ticket;
    event->u.cleanup.number = wish->number;
    event->u.cleanup.step = steps_name(wish->step);
    event->u.cleanup.below = wish->below;
    event->u.cleanup.scopes = wish->scope_names;
    event->u.cleanup.scope_count = wish->scope_count;
    event->u.cleanup.wait_ms = wish->wait_ms;
}
