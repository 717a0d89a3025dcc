/* SPDX-License-Identifier: Apache-2.0 */
/* What a read replica shows whose copy lags behind: the last changes, and the state before them. */
#pragma once

#include <stdint.h>

#include "mock-fm/objects/objects.h"

/* At least so many changes are kept one by one; what is older is shown at most that old. */
#define REPLICA_CHANGES 4096

struct replica;

/* Follows from what is held now on; nothing older can be shown. */
struct replica *replica_create(const struct objects *objects);
void replica_destroy(struct replica *replica); /* takes NULL */

/* A change that is in force from now on. */
void replica_add(struct replica *replica, json_t *change);

/* What was held so long ago, to be destroyed. */
struct objects *replica_objects(const struct replica *replica, const struct replica_lag *lag,
                                int64_t now_us);
