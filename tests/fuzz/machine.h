/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/fuzz/fuzz.h"

#include "core/core.h"
#include "tests/sim/disk.h"

/* A core that is driven by bytes: each says what happens next, and what it wants is answered in any
 * way that it may be. What must hold after each step is checked; what is saved is kept, so that the
 * core can be taken away and started again from it. The simulator (tests/sim) models the world much
 * better; this one is guided by the branches that it reaches. */

enum { MACHINE_ASKED_MAX = 64 };

struct machine_asked { /* a request without its answer */
    uint64_t ticket;
    int64_t until_ms; /* it waits no longer (F21) */
};

struct machine_call { /* of the fabric manager, under way */
    uint64_t id;
    enum fmcall_kind kind;
    char name[FM_NAME_MAX + 1];
};

struct machine {
    struct core_config config;
    struct core *core;
    int64_t now_ms;
    struct disk disk;
    uint64_t last_ticket, last_call;
    struct machine_asked asked[MACHINE_ASKED_MAX];
    struct machine_call calls[MACHINE_ASKED_MAX];
    size_t asked_count, call_count;
    bool logging_in;
    uint64_t list, jobpoll; /* under way, 0: none */
    uint64_t sync;          /* of which more will be said, 0: none */
};

/* A record was on disk before, and the core has loaded it. False: no store gives it so, or there.
 */
bool machine_loaded(struct machine *machine, const struct record *record);

/* Without a core: the configuration may still be changed. */
void machine_init(struct machine *machine);

/* The core has been made, and perhaps loaded: starts it. */
void machine_start(struct machine *machine);

/* One step as the next bytes say. */
void machine_step(struct machine *machine, struct fuzz_input *in);

/* The broker is killed, and starts again with what is on disk. */
void machine_crash(struct machine *machine);

void machine_release(struct machine *machine);
