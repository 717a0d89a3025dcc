/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/config.h"
#include "core/leader/leader.h"
#include "tests/sim/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Several brokers with one ledger (B7): their processes, each with the real struct leader and a
 * clock of its own; the way between them and the cluster (cluster.h), on which every request and
 * answer may be lost, late or carried out twice; and clients that ask the broker of which they
 * believe that it leads, go where it sends them, and sometimes only read.
 *
 * The core of the one that leads is the edge's (edge.h). To the rest of the world a change of
 * leaders is a crash and a start from what the cluster holds. A process that was stopped, or whose
 * lease is over and that has not noticed, keeps its core here: I10 says that it does nothing with
 * it any more. Only what a stop between look and send holds back is sent late (wire_late). */

struct sim;
struct core;
struct request;
struct word;
struct question;
struct txn;

enum {
    BROKERS_MAX = 3,
    BROKER_READS_MAX = 8,
    BROKERS_PAUSE_MAX_MS = 60000, /* beyond the lease */
};

/* What was made to go wrong, counted: an empty campaign shows. */
#define BROKER_FAULTS(X)                                                                           \
    X(TAKEOVERS, "take-overs")                                                                     \
    X(DEATHS, "deaths")                                                                            \
    X(PAUSES, "pauses")         /* longer than the lease */                                        \
    X(LATE_CALLS, "late-calls") /* of the fabric manager: a stop between look and send */          \
    X(LATE_MADE, "late-made")   /* … that made something there, */                               \
    X(LATE_TOOK, "late-took")   /* … or took something that a job relied on */                   \
    X(STEPDOWNS, "step-downs")                                                                     \
    X(CUTS, "cuts") /* one way, or both, between one broker and the cluster */                     \
    X(QUORUMS, "quorum-losses")                                                                    \
    X(NOSPACES, "nospaces")                                                                        \
    X(ASKS_LOST, "asks-lost")                                                                      \
    X(ANSWERS_LOST, "answers-lost")                                                                \
    X(ASKS_LATE, "asks-late")       /* a copy arrives up to half a minute later */                 \
    X(COMMITS_LATE, "commits-late") /* … after it was repeated, or its leader has ended */       \
    X(READS, "reads")

enum broker_fault {
#define BROKER_FAULT_ENUM_(name, word) BROKER_##name,
    BROKER_FAULTS(BROKER_FAULT_ENUM_)
#undef BROKER_FAULT_ENUM_
        BROKER_FAULT_COUNT
};
const char *broker_fault_word(unsigned fault);

struct broker {
    struct leader leader;
    bool alive;
    uint64_t life; /* grows by one a start */
    bool loads;    /* the ledger, or has loaded it */
    bool paused;
    int64_t slow_until_ms, cut_until_ms;
    bool cut_asks, cut_answers;
    int64_t skew;                /* of its CLOCK_BOOTTIME, in thousandths */
    uint64_t asked, wake;        /* the newest question; the timer */
    struct core *ghost;          /* of a former leader that has not noticed yet; NULL: none */
    bool ghost_unsaved;          /* it waits for a commit that will not come */
    uint64_t boot;               /* of its host, */
    int64_t booted_ms, clock_ms; /* as the edge has it */
    uint64_t seen_seq;           /* planted REPEAT_EVENTS: the last event when it started */
    struct {
        uint32_t cluster;
        const char *job;
    } reads[BROKER_READS_MAX]; /* that arrived while it was stopped */
    size_t read_count;
};

struct brokers {
    struct broker all[BROKERS_MAX];
    uint32_t count; /* 0: one broker, and the ledger is a disk: nothing of this */
    int leads;      /* whose core the edge has; -1: none */
    uint32_t believed[CLUSTERS_MAX];
    uint64_t commits; /* of this leadership */
    uint64_t landed;  /* the newest batch that the cluster has */
    struct txn *txns; /* on their way */
    struct question *questions;
    struct rng rng;
};

void brokers_init(struct sim *sim);
void brokers_release(struct sim *sim);
void brokers_start(struct sim *sim);
void brokers_storm(struct sim *sim);
void brokers_calm(struct sim *sim);

/* ---- among its parts: brokers.c, brokercommits.c, brokerclients.c ---- */

struct broker *brokers_leader(struct sim *sim); /* NULL: none */
int64_t brokers_clock(const struct sim *sim, const struct broker *broker);
bool brokers_may_act(const struct sim *sim, const struct broker *broker);
void brokers_count(struct sim *sim, enum broker_fault fault);
/* What its struct leader has decided is done. */
void brokers_settle(struct sim *sim, struct broker *broker);
/* Whether this may go wrong now, and does. */
bool brokers_chance(struct sim *sim, uint32_t per_mille);
/* How long a request takes to the cluster, or back. */
int64_t brokers_travel(struct sim *sim);
enum { BROKERS_LATE_MAX_MS = 30000 }; /* a copy that lay in a member that was stopped */
void brokers_read_waiting(struct sim *sim, struct broker *broker);
void brokers_ghost_runs(struct sim *sim, struct broker *broker);
void brokers_clients_storm(struct sim *sim);
void brokers_commits_release(struct sim *sim);

/* ---- for the cluster ---- */

void brokers_key_gone(struct sim *sim, uint64_t lease);

/* ---- for the edge ---- */

/* The look before a word leaves. False: it may not, and the edge has no core any more. */
bool brokers_let_out(struct sim *sim, const struct word *word);
/* The process of the edge has died. */
void brokers_died(struct sim *sim);

/* ---- for the journal ---- */

/* Sends what it is committing, again and again, until journal_committed, or the leader ends. */
void brokers_commit(struct sim *sim);
/* The leader has ended: was the commit under way carried out? */
bool brokers_landed(struct sim *sim);

/* ---- for clients ---- */

/* Where a request that arrives goes. */
enum brokers_route {
    ROUTE_HERE,    /* to the edge */
    ROUTE_NOWHERE, /* given up */
    ROUTE_ON,      /* to another broker: arrive is called again */
};
enum brokers_route brokers_route(struct sim *sim, struct request *request,
                                 void (*arrive)(struct sim *sim, void *what, uint64_t mark));
