/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/fmurls.h"

#include "tests/sim/sim.h"

#include <string.h>

void fmurls_init(struct sim *sim)
{
    memset(&sim->fmurls, 0, sizeof sim->fmurls);
    rng_init(&sim->fmurls.rng, sim->profile.seed, 7);
}

static void move(struct sim *sim, uint32_t door, bool close)
{
    if (sim->fmurls.closed[door] == close)
        return;
    sim->fmurls.closed[door] = close;
    sim_trace(sim, "fm: %s %s", sim->profile.config.fm_urls[door],
              close ? "does not answer any more" : "answers again");
}

static void move_one(struct sim *sim, void *what, uint64_t mark)
{
    (void)what;
    uint32_t door = (uint32_t)(mark >> 1);
    bool close = mark & 1;
    if (!fault_possible(&sim->faults, FAULT_DOOR_CLOSES))
        return;
    if (close)
        fault_count(&sim->faults, FAULT_DOOR_CLOSES);
    move(sim, door, close);
}

void fmurls_storm(struct sim *sim)
{
    struct rng *rng = &sim->fmurls.rng;
    uint32_t count = sim->profile.config.fm_url_count;
    uint32_t moves = count > 1 ? rng_below(rng, 8) : 0;
    for (uint32_t i = 0; i < moves; i++)
        sim_later(sim, rng_between(rng, 0, sim->profile.storm_ms), move_one, NULL,
                  rng_below(rng, 2 * count));
}

void fmurls_calm(struct sim *sim)
{
    uint32_t count = sim->profile.config.fm_url_count;
    if (count == 0)
        return;
    /* The other ones as the storm left them. */
    uint32_t open = rng_below(&sim->fmurls.rng, count);
    for (uint32_t i = 0; i < sim->config.fm_url_count; i++) {
        if (strcmp(sim->config.fm_urls[i], sim->profile.config.fm_urls[open]) == 0) {
            move(sim, open, false);
            return;
        }
    }
    for (uint32_t i = 0; i < count; i++) /* that one is not configured any more */
        move(sim, i, false);
}

void fmurls_use(struct sim *sim, uint32_t url)
{
    const struct core_config *all = &sim->profile.config;
    /* A reload overtook the word: a login at the right one follows. */
    const char *text = sim->config.fm_urls[url < sim->config.fm_url_count ? url : 0];
    for (uint32_t door = 0; door < all->fm_url_count; door++)
        if (strcmp(all->fm_urls[door], text) == 0)
            sim->fmurls.in_use = door;
}

bool fmurls_open(const struct sim *sim, uint32_t door)
{
    return !sim->fmurls.closed[door];
}
