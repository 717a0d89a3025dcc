/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "tests/sim/rng.h"

#include <stddef.h>
#include <stdint.h>

/* How fast the fabric manager reserves, which changes in a storm; and what a broker that leaves to
 * itself how long jobs wait for it ([fm] reserve_timeout = auto) must have learned of that (F21).
 */

struct sim;
struct request;
struct told;

struct speed {
    struct rng rng;
    int64_t reserve_ms; /* a reserve takes so much longer */
    /* In this life of the broker: */
    int64_t auto_ms;     /* since when the wait is left to it; INT64_MAX: it is not */
    int64_t known_ms;    /* when its first reserve ended; INT64_MAX: none has */
    int64_t shortest_ms; /* that took a reserve, as it could know it; 0: one was not answered */
    int64_t longest_ms;
    uint32_t most_needed;
    struct {
        int64_t at_ms, took_ms;
    } * noted; /* reserves that were answered, and the first end of one */
    size_t count, room;
};

/* What a request knows of it that waits for a reserve. */
struct speed_wait {
    bool by_itself;  /* the broker chooses how long */
    uint32_t needed; /* at most so many calls, one after the other, until it can be answered */
};

void speed_init(struct sim *sim);
void speed_release(struct sim *sim);
void speed_storm(struct sim *sim);
int64_t speed_of_reserve(const struct sim *sim);

void speed_started(struct sim *sim);    /* a life of the broker begins */
void speed_configured(struct sim *sim); /* … or has another configuration */
void speed_ended(struct sim *sim, bool ok, int64_t took_ms);

/* Before the core is given it. */
void speed_asked(struct sim *sim, struct request *request, const struct core_status *before);
/* When the broker must have answered by what it knows now; INT64_MAX: it does not choose. */
int64_t speed_latest(const struct sim *sim, const struct request *request);
/* It gave up only when it had waited as long as those needed that were answered lately. */
void speed_judge(struct sim *sim, const struct request *request, const struct told *told);
