/* SPDX-License-Identifier: Apache-2.0 */
/* Commits of the broker that leads, on their way to the cluster and back. */
#include "tests/sim/brokers.h"

#include "base/memory.h"
#include "tests/sim/sim.h"

#include <stdlib.h>

struct txn { /* one copy of a commit */
    struct txn *prev, *next;
    struct commit_guard guard;
    struct batch batch;
    uint64_t process; /* the edge's that sends it */
    struct commit_seen seen;
    bool late; /* nobody waits for its answer */
};

static void drop(struct sim *sim, struct txn *txn)
{
    if (txn->prev)
        txn->prev->next = txn->next;
    else
        sim->brokers.txns = txn->next;
    if (txn->next)
        txn->next->prev = txn->prev;
    batch_release(&txn->batch);
    free(txn);
}

void brokers_commits_release(struct sim *sim)
{
    while (sim->brokers.txns)
        drop(sim, sim->brokers.txns);
}

static bool is_under_way(const struct sim *sim, const struct txn *txn)
{
    const struct journal *journal = &sim->journal;
    return sim->edge.core && txn->process == sim->edge.process && journal->in_flight &&
           txn->batch.id == journal->committing.id;
}

static void is_answered(struct sim *sim, void *what, uint64_t mark)
{
    struct txn *txn = what;
    struct broker *broker = brokers_leader(sim);
    (void)mark;
    if (is_under_way(sim, txn) && commit_judge(&txn->guard, &txn->seen) == COMMIT_DONE) {
        drop(sim, txn);
        journal_committed(sim);
        return;
    }
    if (is_under_way(sim, txn)) {
        if (sim->cluster.holder_revision == broker->leader.revision)
            sim_fail(sim, "B7", "commit %llu is taken for refused, and its broker leads",
                     (unsigned long long)txn->guard.commit);
        leader_deposed(&broker->leader);
        brokers_settle(sim, broker);
    }
    drop(sim, txn);
}

/* A copy whose leader has ended while it was on its way: that it is carried out now is as if it had
 * been before (brokers_landed drew that). Only after another has won it tells something. */
static bool comes_too_early(const struct sim *sim, const struct txn *txn)
{
    return !(sim->edge.core && txn->process == sim->edge.process) &&
           (sim->cluster.holder == 0 || sim->cluster.holder_revision == txn->guard.revision ||
            !sim->edge.core);
}

static void is_carried_out(struct sim *sim, void *what, uint64_t mark)
{
    struct txn *txn = what;
    (void)mark;
    if (sim->cluster.away || comes_too_early(sim, txn)) {
        txn->late = true;
        sim_later(sim, 1000, is_carried_out, txn, 0);
        return;
    }
    const bool current = is_under_way(sim, txn);
    if (sim->cluster.full && current) { /* refused, nothing is done: it is tried again */
        drop(sim, txn);
        return;
    }
    if (!current)
        brokers_count(sim, BROKER_COMMITS_LATE);
    txn->seen = cluster_commit(sim, &txn->guard, &txn->batch);
    if (txn->seen.held && current)
        sim->brokers.landed = txn->batch.id;
    const struct broker *broker = brokers_leader(sim);
    if (txn->late || !current || brokers_chance(sim, 40) ||
        (broker->cut_answers && sim->now_ms < broker->cut_until_ms))
        drop(sim, txn);
    else
        sim_later(sim, brokers_travel(sim), is_answered, txn, 0);
}

static void send(struct sim *sim, int64_t travel_ms, bool late)
{
    struct brokers *brokers = &sim->brokers;
    const struct leader *leader = &brokers_leader(sim)->leader;
    const struct batch *batch = &sim->journal.committing;
    struct txn *txn = memory_zeroed(sizeof *txn);
    txn->guard = (struct commit_guard){leader->lease, leader->revision, brokers->commits};
    txn->process = sim->edge.process;
    txn->late = late;
    batch_init(&txn->batch, batch->id);
    for (size_t i = 0; i < batch->count; i++)
        batch_add(&txn->batch, batch->records[i]);
    txn->next = brokers->txns;
    if (txn->next)
        txn->next->prev = txn;
    brokers->txns = txn;
    sim_later(sim, travel_ms, is_carried_out, txn, 0);
}

/* Until it is answered: the same bytes, to the next member. */
static void tries(struct sim *sim, void *what, uint64_t batch)
{
    struct broker *broker = brokers_leader(sim);
    (void)what;
    if (!broker || !sim->journal.in_flight || sim->journal.committing.id != batch)
        return;
    if (!leader_check(&broker->leader, brokers_clock(sim, broker))) {
        brokers_settle(sim, broker);
        return;
    }
    sim_later(sim, leader_try_ms(&broker->leader), tries, NULL, batch);
    if (broker->cut_asks && sim->now_ms < broker->cut_until_ms)
        return;
    if (!brokers_chance(sim, 40))
        send(sim, brokers_travel(sim), false);
    if (brokers_chance(sim, 40))
        send(sim, rng_between(&sim->brokers.rng, 1, BROKERS_LATE_MAX_MS), true);
}

void brokers_commit(struct sim *sim)
{
    sim->brokers.commits++;
    tries(sim, NULL, sim->journal.committing.id);
}

bool brokers_landed(struct sim *sim)
{
    const struct journal *journal = &sim->journal;
    if (sim->brokers.landed == journal->committing.id)
        return true;
    for (struct txn *txn = sim->brokers.txns; txn; txn = txn->next) {
        if (txn->batch.id != journal->committing.id || txn->process != sim->edge.process ||
            sim->cluster.away || sim->cluster.full || !brokers_chance(sim, 500))
            continue;
        if (!cluster_commit(sim, &txn->guard, &txn->batch).held) /* its leader key is gone */
            continue;
        sim->brokers.landed = txn->batch.id;
        return true;
    }
    return false;
}
