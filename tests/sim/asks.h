/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/reservation/record.h"
#include "tests/sim/steps.h"
#include "tests/sim/deferred.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What bearers of tokens asked to have cleaned, and what must come of it: no step is touched that
 * nobody asked for within the scope of his token (I6); what was accepted is done, or given up, or
 * its job is over; and done means that the trees made before it was asked for are gone (F19).
 * Kept from requests, records and what the fabric manager acts on, not from what the core thinks.
 */

struct sim;
struct object;
struct request;
struct wire_call;

struct ask { /* one request that reached the core and was not refused */
    uint64_t number;
    int step;
    bool below;
    uint64_t trees;      /* made until then: what came later may stay */
    bool told;           /* "accepted" has left the broker */
    bool excused;        /* it was given up, or what it was merged with */
    uint64_t done_batch; /* 0: not done */
};

struct pending { /* a cleanup on disk, or about to be */
    uint64_t number;
    int step;
    bool below;
};

struct asks {
    struct ask *all;
    size_t count, room;
    struct pending *pending;
    size_t pending_count, pending_room;
    struct pending *ended; /* in the step being looked at */
    size_t ended_count, ended_room;
    const struct request *arriving; /* in the step being looked at; NULL: none */
    uint64_t given_up;              /* core_status, before it */
};

void asks_release(struct sim *sim);

/* One step of the core: what comes in, what it does, in this order. */
void asks_step_begins(struct sim *sim, const struct request *arriving); /* NULL: something else */
void asks_saved(struct sim *sim, const struct record *record);
void asks_answered(struct sim *sim, const struct request *request, const struct told *told);
void asks_step_ends(struct sim *sim, uint64_t batch);

void asks_told(struct sim *sim, const struct request *request); /* the answer leaves the broker */
void asks_leaves(struct sim *sim, const struct word *word);     /* a call does */

/* The fabric manager removes a step's trees, or one. */
void asks_acted(struct sim *sim, const struct object *object, int step,
                const struct wire_call *call);

void asks_died(struct sim *sim, uint64_t durable);
void asks_restarted(struct sim *sim);
void asks_rewound(struct sim *sim); /* what was asked for is not promised any more */

void asks_check_quiet(struct sim *sim);
