/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/names.h"
#include "tests/sim/rng.h"
#include "tests/sim/deferred.h"

#include <stdbool.h>
#include <stddef.h>

/* A second broker under our clusters' names, at the same fabric manager: a test copy of our
 * configuration. It reserves for jobs of its own, some of whose ids are ours too, and releases what
 * it has reserved itself, never anything else. It comes in a storm, may stay over quiet spells, and
 * leaves some of what it had behind when it goes.
 *
 * It uses no job id under which we have ever asked for something: a name alone cannot tell whose an
 * object is, and the interface has no other way to delete one. */

struct sim;
struct object;

enum { RIVAL_JOBS_MAX = 12 };

struct secondbroker {
    bool present;
    struct secondbroker_job {
        char name[FM_NAME_MAX + 1];
        char token[TOLD_TOKEN_MAX + 1];
    } held[RIVAL_JOBS_MAX];
    size_t count;
    uint32_t last_job;
    uint64_t visit; /* grows by one each time it comes or goes */
    struct rng rng;
};

void secondbroker_init(struct sim *sim);

/* Draws when it comes and goes, in a storm that begins now. */
void secondbroker_storm(struct sim *sim);
/* It goes for good. */
void secondbroker_leaves(struct sim *sim);

/* Whether it has something under the names of one of our clusters, now. */
bool secondbroker_in(const struct sim *sim, const char *cluster);
