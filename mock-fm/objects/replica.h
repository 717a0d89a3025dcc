/* SPDX-License-Identifier: Apache-2.0 */
/* What a read replica shows whose copy lags behind: the state at its beginning, and each change
 * since. */
#pragma once

#include <stdint.h>

#include "mock-fm/objects/objects.h"

struct replica;

/* Follows from what is held now on; nothing older can be shown. */
struct replica *replica_create(const struct objects *objects);
void replica_destroy(struct replica *replica); /* takes NULL */

/* A change that is in force from now on. */
void replica_add(struct replica *replica, json_t *change);

/* What was held so long ago, to be destroyed. */
struct objects *replica_objects(const struct replica *replica, const struct replica_lag *lag,
                                int64_t now_us);
