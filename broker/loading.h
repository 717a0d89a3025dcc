/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/engine.h"

/* The engine's loading of the ledger: at once, or where the store has more to fetch in pages, the
 * loop turning between them. */

struct loading {
    const struct engine_options *options; /* the engine's: where from, and who else is told */
    struct turn *turn;
    struct core *core;
    void (*done)(void *arg, int code, struct error *err); /* where loading_start returned 1 */
    void (*closed)(void *arg); /* nothing of it is in the loop any more */
    void *arg;
    uint64_t records;
    uv_poll_t poll; /* of the store; in the loop from loading_start's 1 to closed */
    bool active;    /* from there to done, or loading_stop */
};

/* 0: all is loaded, and the records fit together; 1: done and closed will be called; or a code with
 * a sentence. */
int loading_start(struct loading *loading, struct error *err);
/* done will not be called; if it would have been, closed is. */
void loading_stop(struct loading *loading);
