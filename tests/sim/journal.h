/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/reservation/record.h"
#include "tests/sim/disk.h"

#include <stdbool.h>
#include <stdint.h>

/* The broker's journal: steps gather their records in one batch while another one is being
 * committed; commits take time, fail and are tried again, and may be cut off by a death. */

struct sim;

struct journal {
    struct batch gathering, committing;
    uint64_t last_batch; /* the highest id given to a batch */
    uint64_t durable;    /* the newest batch that is on disk */
    bool due;            /* a commit is about to begin */
    bool in_flight;
    uint64_t mark;         /* of the commit that is due or under way */
    bool die_in_commit;    /* the broker dies while the next commit is under way */
    struct batch unsynced; /* planted NO_FSYNC: acknowledged, not on the platter */
};

void journal_init(struct sim *sim);
void journal_release(struct sim *sim);

void journal_add(struct sim *sim, const struct record *record);

/* The batch that must be durable before words of this moment may leave. */
uint64_t journal_newest(const struct journal *journal);

/* Commits what is gathered as soon as nothing else is being committed, then lets words out. */
void journal_commit_soon(struct sim *sim);

/* The process is gone: what was gathered is lost, what was being committed is there whole or not at
 * all. */
void journal_cut(struct sim *sim);

/* Of several brokers: the cluster has carried out what is being committed, and answered. */
void journal_committed(struct sim *sim);

bool journal_idle(const struct journal *journal);
