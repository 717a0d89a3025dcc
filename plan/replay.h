/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/idset.h"
#include "plan/joblog.h"

/* A log of jobs through the broker's core, in simulated time: which jobs would have had multicast
 * addresses with a setting, and what they would have used together. The fabric manager does what it
 * is asked for, and takes the same time for each call. */

struct plan_setting {
    uint32_t min_nodes;
    uint32_t addresses; /* of a job; 0: by total_addresses, system_nodes and min_nodes */
    int64_t hold_ms;    /* a released VNI is quarantined for so long */
};

struct plan_machine {
    uint32_t total_addresses, system_nodes, sharing, vnis_per_job;
    int64_t call_ms; /* how long the fabric manager takes for a call */
    struct idset pool;
};

enum plan_fate {
    PLAN_OPEN,       /* not answered */
    PLAN_INELIGIBLE, /* fewer nodes than min_nodes */
    PLAN_SERVED,     /* it got its addresses */
    PLAN_DENIED,     /* they were not left */
    PLAN_LATE,       /* it got none in the time for which a job's start waits, or ended before */
    PLAN_REFUSED,    /* no VNIs were left: the job fails */
    PLAN_FATES
};

enum { PLAN_CURVE_POINTS = 500 };

/* The most at once in each part of the time. */
struct plan_curve {
    uint32_t addresses, vnis, quarantined;
};

struct plan_outcome {
    struct plan_setting setting;
    uint32_t addresses; /* of a job */
    struct error error; /* the setting is impossible: nothing else is filled in */
    size_t jobs, fates[PLAN_FATES];
    size_t waited;                  /* until others had given addresses back */
    double node_ms, served_node_ms; /* nodes × run time: of all jobs, and of those served */
    int64_t begin_ms, end_ms;       /* of the log */
    struct plan_curve most;         /* at once; addresses as the broker counts them, until the
                                       fabric manager has them back; VNIs of jobs that run */
    double addresses_mean, vnis_mean;
    struct plan_curve *curve; /* PLAN_CURVE_POINTS */
    uint8_t *fate;            /* enum plan_fate of each job of the log */
};

/* How many asked for addresses and were answered; had to do without. */
size_t plan_eligible(const struct plan_outcome *outcome);
size_t plan_unserved(const struct plan_outcome *outcome);

void plan_replay(const struct joblog *log, const struct plan_machine *machine,
                 const struct plan_setting *setting, struct plan_outcome *out);
void plan_outcome_release(struct plan_outcome *outcome);
