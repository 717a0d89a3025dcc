/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/disk.h"
#include "tests/sim/rng.h"

#include <stdbool.h>
#include <stdint.h>

/* A ledger that goes back: the broker dies, and finds an older state of its disk when it starts, as
 * after a restored backup or a snapshot of its machine. Jobs, nodes and the fabric manager have
 * gone on. What was acknowledged since then is unknown to it, and so are the reservations that have
 * begun since: jobs run with VNIs and addresses of which only resource managers, nodes and the
 * fabric manager know. Once in a run at most. */

struct sim;
struct entry;
struct job;

struct rewind {
    struct disk kept;
    bool taken, done;
    bool suspect;         /* the broker knows, and the hold since then is not over */
    uint64_t last_number; /* the highest that it knew then */
    struct entry **lost;  /* reservations begun since */
    size_t lost_count, lost_room;
    struct rng rng;
};

void rewind_init(struct sim *sim);
void rewind_release(struct sim *sim);

void rewind_storm(struct sim *sim); /* draws when */

/* The older ledger has something under the name, which it may delete by that. */
bool rewind_has_again(const struct sim *sim, const char *name);
/* … and it does: it is of a job that is over, or of an open try. */
bool rewind_deletes(const struct sim *sim, const char *name);
/* The lost ledger had given the number to the same job: what nodes, or sums, say of the one is
 * taken for the other, and one of more nodes than that has is refused. */
bool rewind_gave(const struct sim *sim, const struct entry *again);
/* The job that a lost reservation was for still runs, or has services on a node. */
bool rewind_in_use(const struct sim *sim, const struct entry *lost);
/* Whether anything is in use that the ledger does not know. */
bool rewind_unknown(const struct sim *sim);

/* Whether a job of the cluster runs that the ledger does not know. */
bool rewind_runs(const struct sim *sim, const char *cluster);
