/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/journal.h"

#include "tests/sim/sim.h"

#include <string.h>

void journal_init(struct sim *sim)
{
    struct journal *journal = &sim->journal;
    memset(journal, 0, sizeof *journal);
    batch_init(&journal->gathering, ++journal->last_batch);
}

void journal_release(struct sim *sim)
{
    struct journal *journal = &sim->journal;
    batch_release(&journal->gathering);
    batch_release(&journal->committing);
    batch_release(&journal->unsynced);
}

void journal_add(struct sim *sim, const struct record *record)
{
    batch_add(&sim->journal.gathering, record);
}

uint64_t journal_newest(const struct journal *journal)
{
    if (journal->gathering.count > 0)
        return journal->gathering.id;
    return journal->in_flight ? journal->committing.id : journal->durable;
}

bool journal_idle(const struct journal *journal)
{
    return journal->gathering.count == 0 && !journal->in_flight;
}

/* ---- reaching the disk ---- */

static void land(struct sim *sim, struct batch *batch, size_t count)
{
    const char *wrong = disk_apply(&sim->disk, batch, count);
    if (wrong)
        sim_fail(sim, "I2", "%s", wrong);
    batch_release(batch);
}

static void land_acknowledged(struct sim *sim)
{
    struct journal *journal = &sim->journal;
    /* Planted: it reaches the platter one commit later; in calm no crash will come to show it. */
    bool late = sim->profile.plant == PLANT_NO_FSYNC && !sim->faults.calm;
    land(sim, &journal->unsynced, journal->unsynced.count);
    if (!late) {
        land(sim, &journal->committing, journal->committing.count);
        return;
    }
    journal->unsynced = journal->committing;
    memset(&journal->committing, 0, sizeof journal->committing);
}

/* ---- commits ---- */

static void words_leave(struct sim *sim)
{
    if (edge_crash_point(sim))
        return;
    journal_commit_soon(sim);
    edge_speak(sim);
}

void journal_committed(struct sim *sim)
{
    struct journal *journal = &sim->journal;
    journal->in_flight = false;
    journal->durable = journal->committing.id;
    sim->result.commits++;
    batch_release(&journal->committing);
    words_leave(sim);
}

static void commit_ends(struct sim *sim, void *what, uint64_t mark)
{
    struct journal *journal = &sim->journal;
    struct rng rng;
    (void)what;
    if (mark != journal->mark)
        return;
    rng_init_for(&rng, sim->profile.seed, "commit ends", sim->now_ms);
    if (fault_happens(&sim->faults, FAULT_COMMIT_FAILS, &rng)) {
        sim_trace(sim, "disk: commit %llu fails", (unsigned long long)journal->committing.id);
        sim_later(sim, rng_between(&rng, 1, 3000), commit_ends, NULL, mark);
        return;
    }
    journal->in_flight = false;
    journal->durable = journal->committing.id;
    sim->result.commits++;
    land_acknowledged(sim);
    words_leave(sim);
}

static void die_in_commit(struct sim *sim, void *what, uint64_t mark)
{
    (void)what;
    if (mark == sim->journal.mark && fault_possible(&sim->faults, FAULT_CRASH_IN_COMMIT))
        edge_die(sim);
}

static void commit_begins(struct sim *sim, void *what, uint64_t mark)
{
    struct journal *journal = &sim->journal;
    struct rng rng;
    (void)what;
    if (mark != journal->mark)
        return;
    rng_init_for(&rng, sim->profile.seed, "commit", sim->now_ms);
    journal->due = false;
    journal->in_flight = true;
    journal->committing = journal->gathering;
    batch_init(&journal->gathering, ++journal->last_batch);
    int64_t took = rng_between(&rng, 0, sim->profile.disk_ms);
    if (fault_happens(&sim->faults, FAULT_SLOW_DISK, &rng))
        took += rng_between(&rng, 1, 4000);
    if (journal->die_in_commit)
        sim_later(sim, rng_between(&rng, 0, took), die_in_commit, NULL, mark);
    if (sim->brokers.count > 0)
        brokers_commit(sim);
    else
        sim_later(sim, took, commit_ends, NULL, mark);
}

void journal_commit_soon(struct sim *sim)
{
    struct journal *journal = &sim->journal;
    if (journal->gathering.count == 0 || journal->in_flight || journal->due)
        return;
    journal->due = true;
    sim_later(sim, 0, commit_begins, NULL, ++journal->mark);
}

/* ---- death ---- */

static void cut_off_commit(struct sim *sim)
{
    struct journal *journal = &sim->journal;
    size_t count = journal->committing.count;
    fault_count(&sim->faults, FAULT_CRASH_IN_COMMIT);
    if (sim->brokers.count > 0) {
        if (brokers_landed(sim))
            journal->durable = journal->committing.id;
        return;
    }
    if (sim->profile.plant == PLANT_TORN_COMMIT) {
        land(sim, &journal->committing, count / 2);
        return;
    }
    bool landed = rng_chance(&sim->edge.rng, 500);
    sim_trace(sim, "disk: the commit under way %s", landed ? "has landed" : "is lost");
    if (!landed)
        return;
    journal->durable = journal->committing.id;
    land(sim, &journal->committing, count);
}

void journal_cut(struct sim *sim)
{
    struct journal *journal = &sim->journal;
    if (journal->in_flight)
        cut_off_commit(sim);
    batch_release(&journal->committing);
    batch_release(&journal->unsynced);
    batch_release(&journal->gathering);
    batch_init(&journal->gathering, ++journal->last_batch);
    journal->in_flight = journal->due = false;
    journal->die_in_commit = false;
    journal->mark++;
}
