/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/config.h"
#include "tests/sim/fabric.h"
#include "tests/sim/plant.h"

#include <stdint.h>

/* What one run is made of: chosen on the command line, or drawn from its seed. */

struct profile {
    uint64_t seed;
    uint64_t faults; /* kinds that are allowed, bits of enum fault_kind */
    enum plant plant;
    uint32_t brokers; /* that share one ledger; 0 or 1: one, with a disk */
    int64_t lease_ms; /* … of the one that leads */
    uint32_t jobs;    /* job ids over the whole run; each may live several times; 0: drawn */

    uint64_t skipped; /* bit n: the n-th job never starts (shrinking) */
    uint32_t rounds;  /* storms, each followed by a quiet spell; 0: drawn */
    int64_t storm_ms; /* how long a storm lasts */
    int64_t quiet_ms; /* how long the quiet spell after it lasts: enough for everything to settle */
    int64_t run_ms;   /* how long a job runs, at most */
    int64_t sync_ms;  /* between two syncs of a cluster */
    bool reports;     /* the nodes of small jobs report their CXI services */
    bool boot_told;   /* the broker knows which boot of its host it runs in */
    bool nodes_named; /* a reserve names its nodes, not only their number */
    bool looks;       /* nodes ask for which jobs VNIs wait for them */
    uint32_t launches; /* in a thousand lives of jobs: whose nodes take launch documents */
    uint32_t askers;   /* in a thousand lives of jobs: beside which others ask for documents, too */
    uint32_t sums;     /* in a thousand jobs: of whose nodes the resource manager tells at once */
    uint32_t others;   /* in a thousand jobs: not on Slingshot */
    uint32_t named;    /* … that have VNIs already (named.h) */
    uint32_t floods;   /* in a thousand jobs: which one user starts and cancels, over and over */
    bool slows;        /* the fabric manager does to reserve, in storms */
    bool relays;       /* some clusters' jobs are relayed */
    bool plugin[CLUSTERS_MAX];           /* its Slurm's own plugin reserves, */
    uint32_t plugin_limit[CLUSTERS_MAX]; /* … so many addresses a job; 0: it does not say */
    bool formers;                        /* some such clusters have changed over while jobs run */
    uint32_t bearers;                    /* in a thousand jobs: whose tokens are used to clean up */
    enum token_power token_power;        /* at this fabric manager */
    bool token_dies;                     /* there it is unknown with its job, instead of the job */
    bool silent[CLUSTERS_MAX];           /* it syncs never, it is only asked */
    uint32_t crashes;                    /* of the broker, in a storm */
    uint32_t outages;                    /* of the fabric manager, in a storm */
    uint32_t reloads;                    /* of the configuration, in a storm */
    uint32_t capacity;                   /* addresses that the fabric manager really has */
    uint32_t foreign;                    /* objects of others at the fabric manager */
    uint32_t page;                       /* names a page of its list */
    int64_t disk_ms;                     /* a commit takes at most so long on a good day */
    int64_t net_ms;                      /* so does a message */
    struct core_config config;
};

/* Everything allowed, nothing chosen. */
void profile_init(struct profile *profile, uint64_t seed);

/* Draws what was not chosen: jobs when 0, and all the rest. */
void profile_draw(struct profile *profile);

/* For how long a job's start may wait for the fabric manager. */
int64_t profile_longest_wait(const struct core_config *config);

/* What a cluster that this run does not configure calls its first job; NULL: all are configured. */
const char *profile_name_conflict(const struct profile *profile);
