/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/grid.h"
#include "base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNSERVED_ONE_IN = 1000, POOL_FREE_ONE_IN = 4, HOURS_EQUAL_ONE_IN = 100 };

/* ---- on all processors ---- */

struct work {
    const struct joblog *log;
    const struct plan_machine *machine;
    struct plan_grid *grid;
    atomic_size_t next;
};

static void *work_on(void *arg)
{
    struct work *work = arg;
    for (size_t i; (i = atomic_fetch_add(&work->next, 1)) < work->grid->count;) {
        const struct plan_setting setting = work->grid->outcomes[i].setting;
        plan_replay(work->log, work->machine, &setting, &work->grid->outcomes[i]);
    }
    return NULL;
}

void plan_run(const struct joblog *log, const struct plan_machine *machine, struct plan_grid *grid)
{
    struct work work = {.log = log, .machine = machine, .grid = grid};
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = processors > 1 ? (size_t)processors : 1, started = 0;
    pthread_t *threads = memory_zeroed(wanted * sizeof *threads);
    wanted = wanted < grid->count ? wanted : grid->count;
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, work_on, &work) == 0)
        started++;
    (void)work_on(&work);
    while (started > 0)
        (void)pthread_join(threads[--started], NULL);
    free(threads);
}

/* ---- which to take ---- */

static bool has_vnis(const struct plan_outcome *o, const struct plan_machine *machine)
{
    const uint64_t used = (uint64_t)o->most.vnis + o->most.quarantined;
    return o->fates[PLAN_REFUSED] == 0 &&
           used <= machine->pool.count - machine->pool.count / POOL_FREE_ONE_IN;
}

static bool is_served(const struct plan_outcome *o)
{
    return plan_unserved(o) * UNSERVED_ONE_IN <= plan_eligible(o);
}

/* Above 0: a keeps more of what no site can do without. */
static int compare_needs(const struct plan_outcome *a, const struct plan_outcome *b,
                         const struct plan_machine *machine)
{
    if (has_vnis(a, machine) != has_vnis(b, machine))
        return has_vnis(a, machine) ? 1 : -1;
    if (a->fates[PLAN_REFUSED] != b->fates[PLAN_REFUSED])
        return a->fates[PLAN_REFUSED] < b->fates[PLAN_REFUSED] ? 1 : -1;
    return (int)is_served(a) - (int)is_served(b);
}

/* The same of what it gives beyond that. */
static int compare_gains(const struct plan_outcome *a, const struct plan_outcome *b)
{
    if (a->addresses != b->addresses)
        return a->addresses > b->addresses ? 1 : -1;
    if (a->setting.hold_ms != b->setting.hold_ms)
        return a->setting.hold_ms > b->setting.hold_ms ? 1 : -1;
    return a->setting.min_nodes > b->setting.min_nodes ? 1 : -1;
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void say_why(const struct plan_outcome *o, const struct plan_machine *machine, char *why,
                    size_t size)
{
    const size_t eligible = plan_eligible(o), unserved = plan_unserved(o);
    size_t used = 0;
    if (!has_vnis(o, machine))
        used += (size_t)snprintf(why, size,
                                 "Warning: less than a quarter of the %u VNIs stayed free: make "
                                 "the pool larger or the quarantine shorter. ",
                                 machine->pool.count);
    if (!is_served(o))
        used += (size_t)snprintf(why + used, size - used,
                                 "Warning: no setting here serves all but one in %d of the jobs "
                                 "that ask: try fewer addresses, or larger jobs only. ",
                                 UNSERVED_ONE_IN);
    (void)snprintf(why + used, size - used,
                   "%zu of %zu jobs ask for addresses and %zu of them get none; those that get "
                   "%u each have %.1f%% of the node-hours. At most %u of %u addresses were used at "
                   "once.",
                   eligible, o->jobs, unserved, o->addresses,
                   percent(o->served_node_ms, o->node_ms), o->most.addresses,
                   machine->total_addresses);
}

int plan_choose(const struct plan_grid *grid, const struct plan_machine *machine, char *why,
                size_t size)
{
    const struct plan_outcome *most = NULL, *best = NULL;
    for (size_t i = 0; i < grid->count; i++) {
        const struct plan_outcome *o = &grid->outcomes[i];
        const int needs = !most ? 1 : o->error.code ? -1 : compare_needs(o, most, machine);
        if (o->error.code == 0 &&
            (needs > 0 || (needs == 0 && o->served_node_ms > most->served_node_ms)))
            most = o;
    }
    for (size_t i = 0; most && i < grid->count; i++) {
        const struct plan_outcome *o = &grid->outcomes[i];
        if (o->error.code == 0 && compare_needs(o, most, machine) == 0 &&
            o->served_node_ms >= most->served_node_ms - o->node_ms / HOURS_EQUAL_ONE_IN &&
            (!best || compare_gains(o, best) > 0))
            best = o;
    }
    why[0] = '\0';
    if (!best)
        return -1;
    if (best->fates[PLAN_REFUSED] > 0) {
        (void)snprintf(why, size,
                       "%zu of its %zu jobs at least would have failed for want of VNIs: make the "
                       "pool larger or the quarantine shorter",
                       best->fates[PLAN_REFUSED], best->jobs);
        return -1;
    }
    say_why(best, machine, why, size);
    return (int)(best - grid->outcomes);
}
