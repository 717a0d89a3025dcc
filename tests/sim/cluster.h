/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/leader/commit.h"
#include "core/leader/leader.h"
#include "tests/sim/disk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The modelled cluster that brokers share (etcd): what it holds, and what a request does to it when
 * it is carried out. How requests travel is brokers.h's business. Its records are the disk.
 *
 * Leases run by the cluster's own clock, which is the world's, and do not end while it has no
 * quorum; when it has one again they are re-armed in full. */

struct sim;

enum { LEASES_MAX = 64 };

struct cluster {
    struct {
        uint64_t id;
        int64_t ends_ms;
    } leases[LEASES_MAX];
    size_t lease_count;
    uint64_t last_revision;
    uint64_t holder, holder_revision; /* the leader key, by its lease; 0: there is none */
    uint64_t made;                    /* the question that made it: one by broker and number */
    struct commit_guard last;         /* the sequence key; its revision is not used */
    bool away;                        /* no quorum */
    bool full;                        /* NOSPACE: nothing can be put, no lease granted */
};

/* What a question does. asker: which question, for telling one from its repetition. */
struct leader_answer cluster_ask(struct sim *sim, const struct leader_ask *ask, uint64_t asker);

/* Whether its guards held: then its records are on the disk. */
struct commit_seen cluster_commit(struct sim *sim, const struct commit_guard *guard,
                                  const struct batch *batch);

void cluster_goes_away(struct sim *sim);
void cluster_is_back(struct sim *sim);
