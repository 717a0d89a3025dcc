/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "pmix/infos.h"

/* Facts about a job, which its processes and tools may read: none of them is a secret (B8). */

enum { FACTS_MAX = 32 }; /* of facts_add */

bool facts_add(struct infos *infos, const struct mcast_reservation *reservation);

/* Whether a key is a fact's, also of a later version's. */
bool fact_key(const char *key);
