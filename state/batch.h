/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_STATE_BATCH_H
#define MCAST_STATE_BATCH_H

#include "state/store.h"

#include <stdbool.h>

/* A batch and its commit as the keepers see them; store.h has what a batch's owner needs. Entries
 * never move, so a keeper's thread may read them while the owner waits. */

struct batch_entry {
    struct batch_entry *next;
    size_t size; /* with the record's strings, which lie behind it */
    struct record record;
};

struct batch {
    struct batch_entry *first, **tail; /* in the order in which they were added */
    size_t count;
    /* The highest reservation number and event seq, deleted ones included; 0: none. Once the batch
     * is durable, RECORD_COUNTERS is not below them. */
    uint64_t last_number, last_seq;
    bool deletes; /* rows: without them, only the counters say which numbers were given out */
    bool founded; /* has a RECORD_FOUNDED */
};

/* A commit in progress, from store_commit to the caller's done: begin, the keeper writes, end,
 * report. The store's owner reports, the writer ends; either begins. All zero: none. */
struct commit {
    struct batch *batch;
    store_done_fn *done;
    void *arg;
    int64_t began_us;
    struct commit_result result;
};

/* commit must be all zero. */
void commit_begin(struct commit *commit, struct batch *batch, store_done_fn *done, void *arg);

/* With the writer's code; the writer has set the text of result.error before. */
void commit_end(struct commit *commit, int code);

/* Calls done, after destroying the batch or with the failed one. The commit is free again before
 * that, and not touched after: done may commit the next batch or close the store. */
void commit_report(struct commit *commit);

/* Ends a commit without calling done, and destroys its batch. */
void commit_drop(struct commit *commit);

#endif
