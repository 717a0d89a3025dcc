/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "tests/sim/hosts.h"
#include "tests/sim/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A resource manager that learns how the epilog of each rank ended, and tells the broker of many
 * nodes at once: partial, late, more than once, after the job's next start, beside reports of the
 * nodes themselves; but never of a rank whose epilog did not end. */

struct sim;
struct job;
struct request;
struct told;

struct summing { /* of one reservation; bits: by node */
    uint64_t number;
    uint32_t epoch; /* of the ledger that gave it */
    uint32_t clean, lingering, told_clean, told_lingering;
    uint32_t nodes; /* all that it has */
    bool armed;
};

struct sums { /* of a job */
    struct rng rng;
    bool wanted;
    uint32_t travelling;
    struct summing *all;
    size_t count, room;
};

struct sum {
    char nodes[96];
    uint32_t mask;
    uint64_t number;
    uint32_t epoch;
    enum node_state state;
};

void sums_init(struct sim *sim, struct job *job, uint32_t serial);
void sums_release(struct job *job);

/* The job starts with this reservation: what was to be told of an earlier start is dropped. */
void sums_forget(struct job *job, uint64_t number);
/* An epilog ended. False: nothing will be told of it, the node has to report. */
bool sums_ended(struct sim *sim, const struct host *host, uint64_t number, enum node_state state);

/* The broker knows that services linger there, and yet its epilog ended with 0: another job of the
 * owner may use them. */
void sums_lingers(struct sim *sim, const struct host *host, uint64_t number);

void sums_event(const struct sim *sim, const struct request *request, struct core_event *event);
/* The core has answered; before the answer has left; and when it has arrived. */
void sums_heard(struct sim *sim, const struct request *request, const struct told *told,
                uint64_t batch);
void sums_answered(struct sim *sim, const struct request *request);
