/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/shrink.h"

#include "tests/sim/sweep.h"

#include <string.h>

enum { TRIES_MAX = 600 };

struct search {
    struct profile *best;
    struct sim_result *result;
    unsigned tries;
};

/* Keeps the candidate when it breaks the same promise. */
static bool try_it(struct search *search, const struct profile *candidate)
{
    struct sim_result result;
    if (search->tries++ >= TRIES_MAX)
        return false;
    sweep_once(candidate, false, &result);
    if (!result.failed || strcmp(result.invariant, search->result->invariant) != 0)
        return false;
    *search->best = *candidate;
    *search->result = result;
    return true;
}

static void fewer_jobs(struct search *search)
{
    struct profile drawn = *search->best;
    profile_draw(&drawn);
    for (uint32_t jobs = 1; jobs < drawn.jobs; jobs += 1 + jobs / 3) {
        struct profile candidate = *search->best;
        candidate.jobs = jobs;
        if (try_it(search, &candidate))
            return;
    }
}

static void without_some(struct search *search)
{
    struct profile drawn = *search->best;
    profile_draw(&drawn);
    for (uint32_t job = 0; job < drawn.jobs && job < 64; job++) {
        struct profile candidate = *search->best;
        candidate.skipped |= (uint64_t)1 << job;
        if (candidate.skipped != search->best->skipped)
            try_it(search, &candidate);
    }
}

static void one_storm(struct search *search)
{
    struct profile candidate = *search->best;
    candidate.rounds = 1;
    if (search->best->rounds != 1)
        try_it(search, &candidate);
}

static void fewer_faults(struct search *search)
{
    for (unsigned kind = 0; kind < FAULT_COUNT; kind++) {
        struct profile candidate = *search->best;
        candidate.faults &= ~((uint64_t)1 << kind);
        if (candidate.faults != search->best->faults && search->result->faults[kind] > 0)
            try_it(search, &candidate);
    }
    /* What did not happen need not be named. */
    struct profile candidate = *search->best;
    for (unsigned kind = 0; kind < FAULT_COUNT; kind++)
        if (search->result->faults[kind] == 0)
            candidate.faults &= ~((uint64_t)1 << kind);
    try_it(search, &candidate);
}

unsigned shrink(struct profile *profile, struct sim_result *result)
{
    struct search search = {profile, result, 0};
    fewer_jobs(&search);
    one_storm(&search);
    fewer_faults(&search);
    without_some(&search);
    fewer_jobs(&search);
    fewer_faults(&search);
    without_some(&search);
    return search.tries;
}
