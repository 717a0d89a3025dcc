/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/switches.h"

#include "base/memory.h"
#include "base/nodelist.h"
#include "core/inventory/concern.h"
#include "core/reservation/reservation.h"
#include "tests/sim/sim.h"

#include <stdio.h>

enum {
    FILE_JOBS = 48, /* whose nodes the file has; of others it knows none */
    FILE_NODES = 8, /* of each */
    NAME_SIZE = 24,
    CHANGES_EVERY_MS = 40000,
    LOOKS_AFTER_MS = 10000, /* a late timer or two */
};

static uint32_t dfa_at(uint32_t number)
{
    return dfa_of(number / 2, number % 2, 0);
}

/* Of every other job all are at one switch. */
void switches_init(struct sim *sim)
{
    struct switches *s = &sim->switches;
    char name[NAME_SIZE];
    *s = (struct switches){0};
    rng_init_for(&s->rng, sim->profile.seed, "switches", 0);
    s->on = sim->profile.nodes_named && rng_chance(&s->rng, 500);
    if (!s->on)
        return;
    s->file = nicbook_create();
    for (uint32_t i = 0; i < FILE_JOBS * FILE_NODES; i++) {
        const uint32_t job = i / FILE_NODES, node = i % FILE_NODES;
        const struct nic nic = {.address =
                                    dfa_at((job + (job % 2 == 0 ? node : 0)) % SWITCHES) | 2 << 12};
        snprintf(name, sizeof name, "j%un%u", job, node);
        if (nicbook_add(s->file, name, &nic, NULL) < 0)
            sim_fail(sim, "P5", "the file of nodes cannot be made");
    }
    nicbook_finish(s->file);
    sim->config.nics = s->file;
}

void switches_release(struct sim *sim)
{
    nicbook_destroy(sim->switches.file);
}

/* ---- what is to be told ---- */

struct touch {
    const struct switches *switches;
    uint32_t number; /* of the switch */
    bool touched;
};

static void touch_node(void *arg, const char *name)
{
    struct touch *touch = arg;
    const struct nicbook_node *node = nicbook_find(touch->switches->file, name);
    for (uint32_t i = 0; node && i < node->count; i++)
        touch->touched |= dfa_place(node->nics[i].address) == dfa_place(dfa_at(touch->number));
}

struct looking {
    struct sim *sim;
    struct touch touch;
};

static void note_job(void *arg, const struct reservation *r)
{
    struct looking *looking = arg;
    struct switches *s = &looking->sim->switches;
    looking->touch.touched = false;
    if (r->nodes)
        nodelist_each(r->nodes, touch_node, &looking->touch);
    if (looking->touch.touched && s->job_count < SWITCHES_JOBS)
        s->jobs[s->job_count++] = r->number;
}

/* ---- what was told ---- */

static uint32_t times_told(const struct core *core, uint64_t after, uint64_t number)
{
    uint32_t count = 0;
    for (uint64_t seq = after + 1; seq <= core_last_seq(core); seq++) {
        const struct event_record *event = core_event_at(core, seq);
        count += event && event->number == number && event->kind == EVENT_JOB_FABRIC;
    }
    return count;
}

static void note_number(void *arg, const struct reservation *r)
{
    *(uint64_t *)arg = r->number;
}

static bool still_runs(const struct core *core, uint64_t number)
{
    uint64_t found = 0;
    core_page(
        core,
        &(struct core_filter){.state = JOB_ACTIVE, .uid = -1, .limit = 1, .after = number - 1},
        note_number, &found);
    return found == number;
}

static void check_told(struct sim *sim)
{
    const struct switches *s = &sim->switches;
    const struct core *core = sim->edge.core;
    for (size_t i = 0; i < s->job_count; i++) {
        const uint32_t told = times_told(core, s->before, s->jobs[i]);
        if (told != 1 && (told > 1 || still_runs(core, s->jobs[i])))
            sim_fail(sim, "P5", "number %llu has nodes at the switch, and is told %u times",
                     (unsigned long long)s->jobs[i], told);
    }
    for (uint64_t seq = s->before + 1; seq <= core_last_seq(core); seq++) {
        const struct event_record *event = core_event_at(core, seq);
        bool expected = event->number > s->numbers;
        if (event->kind != EVENT_JOB_FABRIC)
            continue;
        for (size_t i = 0; i < s->job_count && !expected; i++)
            expected = s->jobs[i] == event->number;
        if (!expected || event->state != JOB_ACTIVE)
            sim_fail(sim, "P5", "number %llu is told of a switch that is none of its",
                     (unsigned long long)event->number);
    }
}

static void look(struct sim *sim, void *what, uint64_t mark)
{
    struct switches *s = &sim->switches;
    (void)what, (void)mark;
    if (sim->edge.core && sim->edge.process == s->process) {
        if (concern_deadline(sim->edge.core) != INT64_MAX) { /* it was stopped meanwhile */
            sim_later(sim, LOOKS_AFTER_MS, look, NULL, 0);
            return;
        }
        if (core_first_seq(sim->edge.core) <= s->before + 1 && s->job_count < SWITCHES_JOBS)
            check_told(sim);
    }
    s->process = 0;
}

/* ---- changes ---- */

static struct fabricmap *map_now(const struct switches *s)
{
    struct fabric_read read = {0};
    read.switches.all = memory_zeroed(SWITCHES * sizeof *read.switches.all);
    read.ports.all = memory_zeroed(SWITCHES * sizeof *read.ports.all);
    read.switches.count = read.ports.count = SWITCHES;
    for (uint32_t i = 0; i < SWITCHES; i++) {
        read.switches.all[i] = (struct fabric_switch){.place = dfa_place(dfa_at(i)),
                                                      .state = s->down[i] ? FABRIC_DOWN : FABRIC_UP,
                                                      .name = "x"};
        read.ports.all[i] = (struct fabric_port){.name = i, .dfa = dfa_at(i)};
    }
    struct fabricmap *map = fabricmap_create(&read, NULL);
    fabric_read_release(&read);
    return map;
}

static void change(struct sim *sim, void *what, uint64_t mark)
{
    static const struct fabric_sum sum;
    struct core_status status;
    struct switches *s = &sim->switches;
    (void)what;
    if (sim->phase != PHASE_STORM || mark != sim->calm)
        return;
    sim_later(sim, rng_between(&s->rng, CHANGES_EVERY_MS / 4, CHANGES_EVERY_MS), change, NULL,
              mark);
    if (!sim->edge.core || s->process != 0)
        return;
    struct looking looking = {.sim = sim,
                              .touch = {.switches = s, .number = rng_below(&s->rng, SWITCHES)}};
    bool *down = &s->down[looking.touch.number];
    *down = !*down;
    sim_trace(sim, "fabric: switch %u is %s", looking.touch.number, *down ? "down" : "up");
    s->job_count = 0;
    s->process = sim->edge.process;
    s->before = core_last_seq(sim->edge.core);
    core_status(sim->edge.core, &status);
    s->numbers = status.last_number;
    core_page(sim->edge.core, &(struct core_filter){.state = JOB_ACTIVE, .uid = -1, .limit = 1000},
              note_job, &looking);
    const struct fabric_change now = {.kind = *down ? FABRIC_SWITCH_DOWN : FABRIC_SWITCH_UP,
                                      .state = *down ? FABRIC_DOWN : FABRIC_UP,
                                      .low = dfa_at(looking.touch.number)};
    struct fabricmap *map = map_now(s);
    struct core_event event = {.kind = CORE_FABRIC,
                               .u.fabric = {.map = map, .changes = &now, .count = 1, .sum = &sum}};
    edge_piece(sim, &event);
    fabricmap_destroy(map);
    sim_later(sim, LOOKS_AFTER_MS, look, NULL, 0);
}

void switches_storm(struct sim *sim)
{
    if (sim->switches.on)
        sim_later(sim, rng_between(&sim->switches.rng, 0, CHANGES_EVERY_MS), change, NULL,
                  sim->calm);
}
