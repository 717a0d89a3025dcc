#ifndef MCAST_STATE_COMMIT_H
#define MCAST_STATE_COMMIT_H

#include "state/store.h"

/* A commit that a keeper has under way, from store_commit to the caller's done.
 *
 * begin → (the keeper writes) → end → report. Report belongs to the store's owner, end to whoever
 * wrote, begin to the one or, of what was offered, the other. All zero: none under way. */

struct commit {
    struct batch *batch;
    store_done_fn *done;
    void *arg;
    int64_t began_us;
    struct commit_result result;
};

/* One that is already under way is a bug of the caller. */
void commit_begin(struct commit *commit, struct batch *batch, store_done_fn *done, void *arg);

/* With the code of what came of it; the writer has put the words into result.error before. */
void commit_end(struct commit *commit, int code);

/* Calls done, after destroying the batch or with the failed one. The commit is free again before
 * that, and nothing of it is touched after: done may commit the next batch or close the store. */
void commit_report(struct commit *commit);

/* Forgets a commit that nobody will be told about, and destroys its batch. */
void commit_drop(struct commit *commit);

#endif
