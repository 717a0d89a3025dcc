/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "state/store.h"
#include "state/worker.h"

#include <stdatomic.h>

/* What keepers with a thread have in common: it writes commits, one at a time, and goes on with the
 * offered one by itself. A keeper embeds struct committer as its first member, and these functions
 * are its operations (struct store_ops). */

/* Writes a batch, on the thread. 0, or the code of the commit's result. */
typedef int committer_write_fn(struct store *store, const struct batch *batch, struct error *err);

/* From store_commit to the caller's done. All zero: none. */
struct commit {
    struct batch *batch;
    store_done_fn *done;
    void *arg;
    int64_t began_us;
    struct commit_result result;
};

/* Either side begins a commit, the thread ends it, the owner reports it. */
struct committer {
    struct store store;
    struct worker worker;
    committer_write_fn *write;
    void (*task)(struct store *store); /* to be done instead of commits; NULL: none */
    struct commit commits[2]; /* alternating: the thread may write one while one is reported */
    unsigned written;         /* commits; the thread's */
    unsigned reported;
    unsigned in_progress; /* as the owner knows; an offered one when it cannot be withdrawn */
    bool offered;         /* and not withdrawn yet; the owner's */
    struct {
        struct batch *_Atomic batch; /* owned by the side that exchanges it for NULL */
        store_done_fn *done;
        void *arg;
    } offer;
};

/* For one that is all zero but for store. 0, or ERROR_NOMEM. */
int committer_start(struct committer *committer, const char *name, committer_write_fn *write,
                    struct error *err);

/* Waits for a commit in progress; drops what was not reported. Also of one that was not started. */
void committer_stop(struct committer *committer);

/* Lets the thread do something else, while no commit is in progress: store_fd is readable when it
 * has ended, and worker_reported takes that. */
void committer_task(struct committer *committer, void (*task)(struct store *store));

void committer_commit(struct store *store, struct batch *batch, store_done_fn *done, void *arg);
bool committer_offer(struct store *store, struct batch *batch, store_done_fn *done, void *arg);
struct batch *committer_withdraw(struct store *store);
int committer_fd(const struct store *store);
void committer_dispatch(struct store *store);
