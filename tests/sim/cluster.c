/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/cluster.h"

#include "tests/sim/sim.h"

#include <assert.h>

static size_t place_of(const struct cluster *cluster, uint64_t lease)
{
    size_t at = 0;
    while (at < cluster->lease_count && cluster->leases[at].id != lease)
        at++;
    return at;
}

static bool has(const struct cluster *cluster, uint64_t lease)
{
    return place_of(cluster, lease) < cluster->lease_count;
}

static void take_lease(struct sim *sim, uint64_t lease)
{
    struct cluster *cluster = &sim->cluster;
    cluster->leases[place_of(cluster, lease)] = cluster->leases[--cluster->lease_count];
    if (cluster->holder != lease)
        return;
    cluster->holder = cluster->holder_revision = 0;
    brokers_key_gone(sim, lease);
}

static void lease_may_end(struct sim *sim, void *what, uint64_t lease)
{
    struct cluster *cluster = &sim->cluster;
    size_t at = place_of(cluster, lease);
    (void)what;
    if (at == cluster->lease_count || cluster->away || sim->now_ms < cluster->leases[at].ends_ms)
        return;
    sim_trace(sim, "cluster: lease %llx ends", (unsigned long long)lease);
    take_lease(sim, lease);
}

static void arm(struct sim *sim, size_t at)
{
    sim->cluster.leases[at].ends_ms = sim->now_ms + sim->profile.lease_ms;
    sim_later(sim, sim->profile.lease_ms, lease_may_end, NULL, sim->cluster.leases[at].id);
}

static void grant(struct sim *sim, uint64_t lease)
{
    struct cluster *cluster = &sim->cluster;
    if (has(cluster, lease)) /* a repetition: it is not extended by that */
        return;
    assert(cluster->lease_count < LEASES_MAX);
    cluster->leases[cluster->lease_count].id = lease;
    arm(sim, cluster->lease_count++);
}

static enum leader_outcome campaign(struct sim *sim, uint64_t lease, uint64_t asker)
{
    struct cluster *cluster = &sim->cluster;
    if (!has(cluster, lease))
        return LEADER_GONE;
    if (cluster->holder != 0)
        return LEADER_OK;
    if (cluster->full)
        return LEADER_UNKNOWN;
    cluster->holder = lease;
    cluster->holder_revision = ++cluster->last_revision;
    cluster->made = asker;
    cluster->last = (struct commit_guard){.lease = lease};
    return LEADER_OK;
}

struct leader_answer cluster_ask(struct sim *sim, const struct leader_ask *ask, uint64_t asker)
{
    struct cluster *cluster = &sim->cluster;
    struct leader_answer answer = {.question = ask->question, .outcome = LEADER_OK};
    const size_t at = place_of(cluster, ask->lease);
    switch (ask->question) {
    case LEADER_NOTHING:
    case LEADER_TEST:
        break;
    case LEADER_GRANT:
        answer.ttl_ms = sim->profile.lease_ms;
        if (cluster->full)
            answer.outcome = LEADER_UNKNOWN;
        else
            grant(sim, ask->lease);
        break;
    case LEADER_CAMPAIGN:
        answer.outcome = campaign(sim, ask->lease, asker);
        answer.holder = cluster->holder;
        answer.holder_revision = cluster->holder_revision;
        /* Planted: it believes only the try that is answered. */
        if (sim->profile.plant == PLANT_LATE_WIN && cluster->made != asker)
            answer.holder++;
        break;
    case LEADER_KEEPALIVE:
        answer.ttl_ms = sim->profile.lease_ms;
        if (at < cluster->lease_count)
            arm(sim, at);
        else
            answer.outcome = LEADER_GONE;
        break;
    case LEADER_RESIGN:
        if (at < cluster->lease_count)
            take_lease(sim, ask->lease);
        else
            answer.outcome = LEADER_GONE;
        break;
    }
    return answer;
}

/* ---- commits ---- */

static bool guards_hold(const struct sim *sim, const struct commit_guard *guard)
{
    const struct cluster *cluster = &sim->cluster;
    const bool leads = cluster->holder_revision == guard->revision;
    const bool next = cluster->last.commit == guard->commit - 1;
    switch (sim->profile.plant) {
    case PLANT_GUARD_WITHOUT_SEQ:
        return leads;
    case PLANT_GUARD_WITHOUT_LEADER:
        return next;
    default:
        return leads && next && cluster->last.lease == guard->lease;
    }
}

struct commit_seen cluster_commit(struct sim *sim, const struct commit_guard *guard,
                                  const struct batch *batch)
{
    struct cluster *cluster = &sim->cluster;
    struct commit_seen seen = {.held = guards_hold(sim, guard)};
    if (seen.held) {
        const char *wrong = disk_apply(&sim->disk, batch, batch->count);
        if (wrong)
            sim_fail(sim, "I9", "commit %llu of lease %llx is carried out, and is %s",
                     (unsigned long long)guard->commit, (unsigned long long)guard->lease, wrong);
        cluster->last = *guard;
    }
    seen.revision = cluster->holder_revision;
    seen.lease = cluster->last.lease;
    seen.commit = cluster->last.commit;
    return seen;
}

/* ---- members ---- */

void cluster_goes_away(struct sim *sim)
{
    sim_trace(sim, "cluster: no quorum");
    sim->cluster.away = true;
}

void cluster_is_back(struct sim *sim)
{
    if (!sim->cluster.away)
        return;
    sim_trace(sim, "cluster: quorum, all leases are re-armed");
    sim->cluster.away = false;
    for (size_t at = 0; at < sim->cluster.lease_count; at++)
        arm(sim, at);
}
