/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/config.h"
#include "tests/sim/rng.h"

#include <stdbool.h>
#include <stdint.h>

/* The base URLs of the one fabric manager, active and standby: each is a door that is open or
 * closed; behind all of them is the same state. A configuration names them in any order. */

struct sim;

struct fmurls {
    bool closed[FM_URLS_MAX]; /* by index in the profile's configuration */
    uint32_t in_use;
    struct rng rng;
};

void fmurls_init(struct sim *sim);
/* Draws when they close and open in a storm that begins now. */
void fmurls_storm(struct sim *sim);
/* From now on one of them is open for good. */
void fmurls_calm(struct sim *sim);

/* What begins from now on goes to this URL of the configuration in force. */
void fmurls_use(struct sim *sim, uint32_t url);
/* Whether what goes through this door arrives. */
bool fmurls_open(const struct sim *sim, uint32_t door);
