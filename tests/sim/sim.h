/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/admin.h"
#include "tests/sim/answers.h"
#include "tests/sim/asks.h"
#include "tests/sim/bearer.h"
#include "tests/sim/brokers.h"
#include "tests/sim/cluster.h"
#include "tests/sim/model.h"
#include "tests/sim/disk.h"
#include "tests/sim/fmurls.h"
#include "tests/sim/edge.h"
#include "tests/sim/fabric.h"
#include "tests/sim/fault.h"
#include "tests/sim/gateway.h"
#include "tests/sim/joins.h"
#include "tests/sim/journal.h"
#include "tests/sim/profile.h"
#include "tests/sim/queue.h"
#include "tests/sim/rewind.h"
#include "tests/sim/secondbroker.h"
#include "tests/sim/slurm.h"
#include "tests/sim/shares.h"
#include "tests/sim/speed.h"
#include "tests/sim/switches.h"
#include "tests/sim/rm.h"
#include "tests/sim/wire.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* One world: the real core in the middle, everything around it modelled, one clock, one seed. */

enum sim_phase {
    PHASE_STORM, /* faults */
    PHASE_QUIET, /* no faults, nothing starts or ends: it must settle */
    PHASE_DRAIN, /* no faults, every job ends: it must become empty */
};

struct sim_result {
    bool failed;
    char invariant[16]; /* "I1" … */
    char words[400];
    uint64_t lives, steps, ticks, crashes_survived, commits, calls, jobpolls, early, over_share,
        trees, documents, sums, slow_starts, joined, join_laters, join_denials, shown_from_memory,
        learned;
    uint64_t answers[64];  /* by enum answer_kind */
    uint64_t events[32];   /* by enum event_kind */
    uint64_t outcomes[16]; /* of calls, by enum fmcall_outcome */
    uint64_t faults[FAULT_COUNT];
    uint64_t broker_faults[BROKER_FAULT_COUNT];
    int64_t virtual_ms;
};

struct sim {
    struct profile profile;
    struct core_config config; /* in force: what a restart reads */
    enum sim_phase phase;
    int64_t start_ms, now_ms;
    struct queue queue;
    struct faults faults;
    struct disk disk; /* or what the cluster holds */
    struct cluster cluster;
    struct brokers brokers;
    struct edge edge;
    struct journal journal;
    struct fabric fabric;
    struct gateway gateway;
    struct secondbroker secondbroker;
    struct rewind rewind;
    uint64_t calm;     /* grows by one with each */
    struct rng doctor; /* the administrator's (admin.h) */
    struct fmurls fmurls;
    struct wire wire;
    struct speed speed;
    struct shares shares;
    struct rm rm;
    struct slurm slurm;
    struct pieces *pieces; /* of lists of jobs, under way */
    struct bearers bearers;
    struct model model;
    struct asks asks;
    struct joins joins;
    struct nics nics;
    struct switches switches;
    struct sim_result result;
    FILE *trace; /* NULL: none */
};

/* One run. trace may be NULL. The same profile gives the same run. */
void sim_run(const struct profile *profile, FILE *trace, struct sim_result *result);

/* For the parts of the world. */
__attribute__((format(printf, 3, 4))) void sim_fail(struct sim *sim, const char *invariant,
                                                    const char *format, ...);
__attribute__((format(printf, 2, 3))) void sim_trace(struct sim *sim, const char *format, ...);
/* Lets something happen after_ms from now, 0 or more. */
void sim_later(struct sim *sim, int64_t after_ms,
               void (*happen)(struct sim *sim, void *what, uint64_t mark), void *what,
               uint64_t mark);
