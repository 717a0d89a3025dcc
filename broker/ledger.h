/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"
#include "broker/leadership.h"
#include "state/store.h"

#include <uv.h>

/* The configured ledger for a task that ends, as an import: in a file, or in etcd, where the task
 * leads meanwhile, so that no broker runs with it. All calls wait for what they do, on a loop of
 * their own. */

struct ledger {
    const struct config *config;
    char name[256]; /* for messages and headers */
    struct store *store;
    struct etcd *etcd; /* NULL: in a file */
    struct leadership *leadership;
    uv_loop_t loop;
    uv_poll_t readable; /* the store is */
    bool ready, won, ended;
    struct error error; /* why it ended */
};

/* To be read only: see store_sqlite_open_copy. Each of the two: 0, or a code with a sentence; close
 * it in either case. */
int ledger_open_copy(struct ledger *ledger, const struct config *config, bool *live,
                     struct error *err);
/* To be written to; made when it is missing. ERROR_REFUSED: a broker runs with it. */
int ledger_open(struct ledger *ledger, const struct config *config, struct error *err);
void ledger_close(struct ledger *ledger);

/* As store_load, to its end. */
int ledger_load(struct ledger *ledger, store_each_fn *each, void *arg, struct error *err);
/* Takes the batch. As a commit's result; not tried again. */
int ledger_commit(struct ledger *ledger, struct batch *batch, struct error *err);
/* Closes and opens the store, so that what is loaded next is what is kept. */
int ledger_reopen(struct ledger *ledger, struct error *err);
