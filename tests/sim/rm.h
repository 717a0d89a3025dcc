/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "tests/sim/bearer.h"
#include "tests/sim/jobpoll.h"
#include "tests/sim/joins.h"
#include "tests/sim/hosts.h"
#include "tests/sim/launch.h"
#include "tests/sim/nics.h"
#include "tests/sim/shares.h"
#include "tests/sim/speed.h"
#include "tests/sim/sums.h"
#include "tests/sim/rng.h"
#include "tests/sim/deferred.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The modelled resource managers, one a cluster: jobs that start, run, end, are cancelled and start
 * again under their old id; hooks that repeat, overtake each other or never run; syncs. What they
 * believe of their jobs is the truth that the broker must follow. */

struct sim;

enum job_stage {
    STAGE_NONE,     /* not running, not heard of */
    STAGE_STARTING, /* its prolog asks for a reservation */
    STAGE_RUNNING,
    STAGE_ENDING, /* its epilog asks for the release */
};

struct wanted { /* what a life of a job asks for */
    uint32_t node_count, uid;
    int vni_count;
    enum hwcoll_wish wish;
    enum interconnect_kind interconnect;
    const char *profile;            /* that it names (P3), or NULL */
    uint8_t shared[SHARES_PER_JOB]; /* shared VNIs */
    unsigned shared_count;
    uint16_t named[VNI_PER_JOB_MAX]; /* VNIs that it has already (named.h) */
    unsigned named_count;
};

struct job {
    uint32_t cluster; /* index in the configuration */
    char id[JOB_ID_MAX + 1];
    enum job_stage stage;
    bool active;      /* what a sync says; false from the moment when its release is decided */
    uint32_t life;    /* 1, 2, …: the same id again */
    uint32_t attempt; /* of the request that is being tried */
    uint32_t releases_travelling;
    bool by_plugin;       /* Slurm's own plugin reserves for it (slurm.h) */
    uint64_t told_before; /* … and had been told of this one in its last life */
    bool floods;          /* one user starts it and cancels it at once, over and over */
    bool unreleased;      /* its next start may be granted what it has */
    bool names_vnis;      /* one of its lives has (named.h), and may be late */
    struct wanted wanted;
    struct rng rng; /* its own: what one job does leaves the others' dice alone (shrinking) */

    /* What it was told in this life and must be able to rely on; kept by model.c. */
    bool told;
    uint64_t told_number;

    uint64_t number;                /* of the reservation with which it last ran, */
    uint32_t epoch;                 /* of this ledger (rewind.h) */
    uint16_t vnis[VNI_PER_JOB_MAX]; /* with these */
    unsigned vni_count;
    bool asked_fm; /* the fabric manager has been asked for something under its name */
    bool unsure;   /* … and what came of that is not known, once at least */
    bool named;    /* a whole list of jobs has named it since the ledger went back */
    struct host hosts[HOSTS_MAX];
    struct launches launches;
    struct sums sums;
};

enum request_kind {
    REQUEST_RESERVE,
    REQUEST_RELEASE,
    REQUEST_SYNC,
    REQUEST_REPORT, /* of a node */
    REQUEST_FENCE,
    REQUEST_CLEANUP, /* of a bearer */
    REQUEST_STEPS,   /* of an operator */
    REQUEST_BOOT,    /* of a node */
    REQUEST_ACCEPT_LOSS,
    REQUEST_CLAIM,
    REQUEST_LAUNCH, /* for a launch document, later than the reserve */
    REQUEST_SUM,    /* of many nodes */
    REQUEST_JOIN,   /* of a task */
    REQUEST_LEAVE,
    REQUEST_NICS,  /* of a node */
    REQUEST_SHARE, /* of a user */
    REQUEST_UNSHARE,
};

struct request { /* one message; a duplicate is another one */
    uint64_t ticket;
    enum request_kind kind;
    uint32_t cluster;
    struct job *job; /* NULL: sync, nonsense, unknown job, administrator */
    uint32_t life;
    struct wanted wanted;
    bool other;             /* differs from what the job asked for */
    bool by_plugin;         /* RESERVE, RELEASE, CLEANUP: Slurm's own plugin asks */
    bool looks;             /* … RESERVE: by GET first */
    bool launch;            /* RESERVE: a launch document is wanted, too */
    uint64_t number;        /* RELEASE: of the reservation that is meant alone; 0: by the name */
    uint64_t unknown_job;   /* RELEASE of a job that was never reserved: which; 0: of one known */
    unsigned nonsense;      /* not 0: which nonsense */
    struct jobview jobview; /* SYNC */
    size_t named;           /* of it, in the end */
    const struct job *named_job; /* SYNC: one that it names and that relied on us by then, */
    uint64_t named_number;       /* with this reservation */
    struct host *host;           /* REPORT, FENCE */
    struct host_report report;
    struct sum sum;               /* SUM */
    struct share_wish share;      /* SHARE, UNSHARE */
    struct cleanup_wish cleanup;  /* CLEANUP; of STEPS wait_ms */
    struct join_wish join;        /* JOIN, LEAVE */
    struct nics_wish nics;        /* NICS */
    uint64_t trees;               /* CLEANUP: those made when it reached the broker */
    char key[JOB_KEY_LENGTH + 1]; /* RESERVE: that its edge drew */
    char nodes[40];               /* RESERVE: the list it names, or ""; of an unknown job its id */
    int64_t asked_ms;             /* when it reached the broker */
    int64_t due_ms;               /* when it must be answered; 0: at once */
    struct speed_wait wait;       /* RESERVE, LAUNCH */
    uint32_t hops, broker;        /* of several: how many it was sent to, and the last */
    bool answered;                /* the core has answered; the words may not be out yet */
    struct told told;             /* when it was */
};

struct rm {
    struct job **jobs;
    size_t job_count;
    struct request **requests; /* ticket n is at n - 1 */
    size_t request_count, request_room;
    int64_t lacking_ms[CLUSTERS_MAX];      /* since when syncs and job list polls have lacked active
                                              jobs; 0: they do not */
    struct jobpoll *jobpolls;              /* under way */
    struct jobview jobviews[CLUSTERS_MAX]; /* that the last job list poll saw */
    uint64_t jobpoll_wanted;               /* id of the last one that the core has asked for */
    uint64_t jobpoll_stale; /* the last one from before a reload: the core ignores up to it */
    struct rng rng;
};

void rm_init(struct sim *sim);
void rm_release(struct sim *sim);

/* Jobs of this round start during the storm that begins now. */
void rm_storm(struct sim *sim, uint32_t round);
/* Every job ends now. */
void rm_drain(struct sim *sim);

struct job *rm_find(const struct sim *sim, const char *cluster, const char *id); /* or NULL */
const char *rm_any_job(struct sim *sim, struct rng *rng);
const char *rm_cluster_name(const struct sim *sim, const struct job *job);
const char *rm_job_name(const struct job *job); /* for messages; NULL is allowed */
const char *rm_request_word(const struct request *request);

/* Slurm has lost it: it is over, and this is not told. */
void rm_forget(struct sim *sim, struct job *job);

/* A message to the broker, and its way there. */
struct request *rm_request(struct sim *sim, enum request_kind kind, struct job *job);
void rm_send(struct sim *sim, struct request *request, int64_t travel_ms);

/* The event that the request is to the core; valid while the request is. */
void rm_event(struct sim *sim, struct request *request, struct core_event *event);

/* The broker speaks: its answer sets out for the resource manager. */
void rm_told(struct sim *sim, const struct told *told);
