/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/reservation/reservation.h"

/* Which call to the fabric manager begins next. At most so many calls are under way; five lanes, so
 * that thousands of old releases never keep a starting job waiting: reserves go first, and a
 * quarter of the places is never given to anything else; releases go before mere questions.
 * Cleaning up after steps, which users ask for, has an eighth of the places and never more. What
 * relayed jobs ask for goes before all, but has half of the places. Which call an operation makes
 * is decided when its turn comes, by the caller. All zero is empty. */

enum lane { LANE_RESERVE, LANE_RELEASE, LANE_CHECK, LANE_CLEANUP, LANE_RELAY, LANES };

struct callqueue {
    struct {
        struct operation *first, *last;
        uint32_t queued, in_flight;
    } lanes[LANES];
    struct operation *in_flight; /* the calls under way, in no order */
    uint64_t last_id;
};

/* Puts the operation at the end of a lane, or takes it out. */
void callqueue_push(struct callqueue *queue, struct operation *op, enum lane lane,
                    enum fmcall_kind kind);
void callqueue_remove(struct callqueue *queue, struct operation *op);

/* Takes the operation whose turn it is out of its lane and gives it an id; NULL: none waits, or no
 * call may begin. */
struct operation *callqueue_begin(struct callqueue *queue, uint32_t calls_at_once);

uint32_t callqueue_in_flight(const struct callqueue *queue); /* calls under way, of all lanes */

/* How many calls are made before one that is put behind the other reserves now begins, one after
 * the other. */
uint32_t callqueue_ahead(const struct callqueue *queue, uint32_t calls_at_once);

/* The call is over: its operation and what kind it was; NULL when no such call is under way. */
struct operation *callqueue_end(struct callqueue *queue, uint64_t id, enum fmcall_kind *kind);
