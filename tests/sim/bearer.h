/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "tests/sim/rng.h"
#include "tests/sim/steps.h"
#include "tests/sim/deferred.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whoever has the token of a job, told to it in this life or in an earlier one: its steps make
 * multicast trees with it, straight at the fabric manager, and die; others ask for what they left
 * behind to be removed, within the scope of what they were given or not, once or often, in time or
 * long after the job (F19). An operator looks at its steps now and then. */

struct sim;
struct job;
struct request;

enum { SCOPES_MAX = 2 };

struct bearer {
    struct job *job;
    struct rng rng; /* its own: what it does leaves the job's dice alone */
};

struct bearers {
    struct bearer *all; /* one a job */
};

struct cleanup_wish { /* what a request asks for */
    uint64_t number;
    int step;
    bool below;
    int scopes[SCOPES_MAX];
    const char *scope_names[SCOPES_MAX];
    size_t scope_count;
    int64_t wait_ms;
};

void bearer_init(struct sim *sim); /* after rm_init */
void bearer_release(struct sim *sim);

/* The job runs, and has been told of this. */
void bearer_begins(struct sim *sim, struct job *job, const struct told *told);

/* It ends: its last steps are cleaned up after by what runs at the end of jobs. */
void bearer_ends(struct sim *sim, struct job *job);

/* The dice for the ways of a request of its. */
struct rng *bearer_dice(struct sim *sim, const struct job *job);

void bearer_event(const struct sim *sim, const struct request *request, struct core_event *event);
/* Whether the step lies in all the scopes. */
bool bearer_may(const struct cleanup_wish *wish);
