/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/sim.h"
#include "tests/sim/pieces.h"

#include "tests/sim/check.h"
#include "tests/sim/epilogstorm.h"
#include "tests/sim/reload.h"

#include <stdarg.h>
#include <string.h>

enum {
    STEPS_MAX = 5000000,
    AMBIGUOUS_MS = 600000, /* of one that was granted twice (F3) */
};

void sim_fail(struct sim *sim, const char *invariant, const char *format, ...)
{
    struct sim_result *result = &sim->result;
    if (result->failed) /* the first is the cause */
        return;
    va_list args;
    result->failed = true;
    snprintf(result->invariant, sizeof result->invariant, "%s", invariant);
    va_start(args, format);
    vsnprintf(result->words, sizeof result->words, format, args);
    va_end(args);
    sim_trace(sim, "BROKEN %s: %s", result->invariant, result->words);
}

void sim_trace(struct sim *sim, const char *format, ...)
{
    if (!sim->trace)
        return;
    va_list args;
    fprintf(sim->trace, "%10.3f  ", (double)(sim->now_ms - sim->start_ms) / 1000);
    va_start(args, format);
    vfprintf(sim->trace, format, args);
    va_end(args);
    fputc('\n', sim->trace);
}

void sim_later(struct sim *sim, int64_t after_ms,
               void (*happen)(struct sim *sim, void *what, uint64_t mark), void *what,
               uint64_t mark)
{
    queue_add(&sim->queue, sim->now_ms + after_ms, happen, what, mark);
}

static void run_for(struct sim *sim, int64_t span_ms)
{
    int64_t until_ms = sim->now_ms + span_ms;
    struct occurrence occurrence;
    while (!sim->result.failed && queue_take(&sim->queue, until_ms, &occurrence)) {
        sim->now_ms = occurrence.at_ms;
        occurrence.happen(sim, occurrence.what, occurrence.mark);
        if (sim->result.steps > STEPS_MAX)
            sim_fail(sim, "ticks", "more than %d steps", STEPS_MAX);
    }
    sim->now_ms = until_ms;
}

static void phase_begins(struct sim *sim, enum sim_phase phase)
{
    static const char *const words[] = {"a storm", "a quiet spell", "the end of all jobs"};
    sim->phase = phase;
    sim->faults.calm = phase != PHASE_STORM;
    sim_trace(sim, "-- %s", words[phase]);
    if (phase == PHASE_STORM)
        return;
    sim->calm++;
    fabric_calm(sim);
    gateway_calm(sim);
    fmurls_calm(sim);
    edge_calm(sim);
    reload_calm(sim);
    hosts_calm(sim);
    admin_calm(sim);
    brokers_calm(sim);
}

static bool settled(const struct sim *sim)
{
    return edge_settled(&sim->edge) && journal_idle(&sim->journal);
}

/* A sync or the end of a hold may fall on the last moment of a quiet spell: a second for it. */
static void run_quiet(struct sim *sim, int64_t span_ms)
{
    run_for(sim, span_ms);
    for (int i = 0; i < 50 && !sim->result.failed && !settled(sim); i++)
        run_for(sim, 20);
}

/* Until VNIs come back by time; where only the nodes' word counts, they have it by then. */
static int64_t longest_hold(const struct sim *sim)
{
    return sim->profile.config.vni_hold_ms >= 0 ? sim->config.vni_hold_ms : AMBIGUOUS_MS;
}

static void live(struct sim *sim)
{
    const struct profile *profile = &sim->profile;
    fabric_begin(sim);
    slurm_begin(sim);
    if (sim->brokers.count > 0)
        brokers_start(sim);
    else
        edge_start(sim);
    for (uint32_t round = 0; round < profile->rounds && !sim->result.failed; round++) {
        phase_begins(sim, PHASE_STORM);
        edge_storm(sim);
        reload_storm(sim);
        fabric_storm(sim);
        gateway_storm(sim);
        secondbroker_storm(sim);
        rewind_storm(sim);
        epilogstorm_storm(sim);
        fmurls_storm(sim);
        rm_storm(sim, round);
        slurm_storm(sim);
        shares_storm(sim);
        speed_storm(sim);
        nics_storm(sim);
        switches_storm(sim);
        admin_storm(sim);
        brokers_storm(sim);
        run_for(sim, profile->storm_ms);
        phase_begins(sim, PHASE_QUIET);
        run_quiet(sim, profile->quiet_ms);
        check_quiet(sim);
    }
    if (sim->result.failed)
        return;
    phase_begins(sim, PHASE_DRAIN);
    secondbroker_leaves(sim);
    rm_drain(sim);
    slurm_drain(sim);
    shares_drain(sim);
    run_quiet(sim, profile->quiet_ms + longest_hold(sim));
    check_empty(sim);
}

void sim_run(const struct profile *profile, FILE *trace, struct sim_result *result)
{
    struct sim sim;
    struct error err;
    memset(&sim, 0, sizeof sim);
    sim.profile = *profile;
    sim.trace = trace;
    sim.start_ms = sim.now_ms = 1700000000000;
    profile_draw(&sim.profile);
    sim.config = sim.profile.config;
    fault_init(&sim.faults, profile->seed, sim.profile.faults);
    queue_init(&sim.queue);
    disk_init(&sim.disk);
    model_init(&sim);
    fmurls_init(&sim);
    fabric_init(&sim);
    gateway_init(&sim);
    secondbroker_init(&sim);
    rewind_init(&sim);
    wire_init(&sim);
    speed_init(&sim);
    journal_init(&sim);
    edge_init(&sim);
    slurm_init(&sim);
    rm_init(&sim);
    shares_init(&sim);
    bearer_init(&sim);
    nics_init(&sim);
    switches_init(&sim);
    brokers_init(&sim);
    if (core_config_check(&sim.config, &err) < 0)
        sim_fail(&sim, "profile", "%s", err.text);
    else
        live(&sim);

    *result = sim.result;
    memcpy(result->faults, sim.faults.happened, sizeof result->faults);
    result->virtual_ms = sim.now_ms - sim.start_ms;
    brokers_release(&sim);
    bearer_release(&sim);
    rm_release(&sim);
    slurm_release(&sim);
    switches_release(&sim);
    pieces_release(&sim);
    edge_release(&sim);
    journal_release(&sim);
    wire_release(&sim);
    speed_release(&sim);
    gateway_release(&sim);
    rewind_release(&sim);
    fabric_release(&sim);
    asks_release(&sim);
    joins_release(&sim);
    model_release(&sim);
    disk_release(&sim.disk);
    queue_release(&sim.queue);
}
