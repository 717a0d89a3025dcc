/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/fault.h"

#include <string.h>

static const struct {
    const char *word;
    uint32_t per_mille;
} kinds[FAULT_COUNT] = {
#define FAULT_ROW_(name, word, chance) {word, chance},
    FAULT_KINDS(FAULT_ROW_)
#undef FAULT_ROW_
};

void fault_init(struct faults *faults, uint64_t seed, uint64_t allowed)
{
    static const uint32_t eagerness[] = {30, 100, 100, 300};
    struct rng rng;
    memset(faults, 0, sizeof *faults);
    rng_init(&rng, seed, 1);
    /* One run in eight has every kind, one in eight only a few, the others about half of them. */
    switch (rng_below(&rng, 8)) {
    case 0:
        faults->mask = UINT64_MAX;
        break;
    case 1:
        faults->mask = rng_next(&rng) & rng_next(&rng) & rng_next(&rng);
        break;
    default:
        faults->mask = rng_next(&rng);
        break;
    }
    faults->mask &= allowed;
    faults->eagerness = eagerness[rng_below(&rng, 4)];
}

bool fault_possible(const struct faults *faults, enum fault_kind kind)
{
    return !faults->calm && (faults->mask >> kind & 1);
}

void fault_count(struct faults *faults, enum fault_kind kind)
{
    faults->happened[kind]++;
}

bool fault_happens(struct faults *faults, enum fault_kind kind, struct rng *rng)
{
    bool yes = rng_chance(rng, kinds[kind].per_mille * faults->eagerness / 100);
    if (!yes || !fault_possible(faults, kind))
        return false;
    fault_count(faults, kind);
    return true;
}

const char *fault_word(enum fault_kind kind)
{
    return kinds[kind].word;
}

int fault_from_word(const char *word)
{
    for (int kind = 0; kind < FAULT_COUNT; kind++)
        if (strcmp(kinds[kind].word, word) == 0)
            return kind;
    return -1;
}
