/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/fabric/fmcall.h"
#include "tests/sim/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What stands before the fabric manager's state and answers in its place for a while: a gateway
 * that has lost its route, and answers 404 by itself; a backend that does not find what there is,
 * and says so in the fabric manager's own form; replicas that answer what is read from an older
 * state.
 *
 * What the core may rely on, and this keeps: what a CHECK says is untrue, or old, for less than the
 * stray grace, or the lists of that time are true; or none of them finds anything at all, and then
 * so much is missing that nobody believes it. One run has one kind of lie. */

struct sim;
struct object;
struct wire_call;

enum lie {
    LIE_NONE,
    LIE_CHECKS, /* finds nothing by name, for however long; lists are true */
    LIE_LISTS,  /* lists are whole and empty, for however long; by name all is found */
    LIE_BOTH,   /* once in a run, for less than the grace */
    LIE_ALL,    /* both, of everything, for however long: only how much is missing tells */
    LIE_STALE,  /* by name what was there less than the grace ago; lists older than that */
    LIE_KINDS
};

struct gateway {
    uint32_t unrouted; /* in a thousand calls that come now */
    enum lie lie;      /* of this run */
    uint32_t untrue;   /* in a thousand answers to what is read now */
    bool used;         /* LIE_BOTH */
    bool list_old;     /* LIE_STALE: lists come from the replica */
    int64_t old_until_ms;
    int64_t until_ms;       /* of the last episode */
    struct object *replica; /* LIE_STALE: the state of then */
    size_t replica_count, replica_room;
    struct rng rng;
};

void gateway_init(struct sim *sim);
void gateway_release(struct sim *sim);

/* Draws the episodes of a storm that begins now. */
void gateway_storm(struct sim *sim);
/* From now on everything is routed, and true. */
void gateway_calm(struct sim *sim);

/* Whether the gateway answers for the fabric manager. */
bool gateway_unrouted(const struct sim *sim, struct rng *rng);

/* Whether the fabric manager does not find what the call is about; then what it answers. */
bool gateway_hides(struct sim *sim, const struct wire_call *call);
enum fmcall_outcome gateway_hidden(struct sim *sim, const struct wire_call *call);

/* What a CHECK, or a list that is asked for now, sees. */
const struct object *gateway_find(struct sim *sim, const char *name);
enum list_view { LIST_TRUE, LIST_EMPTY, LIST_OLD };
enum list_view gateway_list(struct sim *sim, struct rng *rng);

/* LIE_ALL: whether what is heard now may be of a time in which nothing was found. */
bool gateway_found_nothing(const struct sim *sim);
