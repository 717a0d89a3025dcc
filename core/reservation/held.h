/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the released jobs of each user still hold of a pool: VNIs that are quarantined, or partition
 * keys (F4). Jobs that run do not count: how many run is bounded by their resource manager, and one
 * user may have the whole machine. Lives in place, all zero is empty; constant time, but held_most.
 */

struct held_user {
    uint32_t uid, count; /* count 0: a free slot */
};

struct held {
    struct held_user *slots; /* a power of two, at most half of them used; NULL: none */
    size_t slot_count, used;
    uint64_t refused; /* reserves, by held_too_much; the caller's, counted since the start */
};

void held_release(struct held *held);

/* UID_UNKNOWN is no user: nothing is counted. */
void held_add(struct held *held, uint32_t uid, uint32_t count);
void held_remove(struct held *held, uint32_t uid, uint32_t count);
uint32_t held_by(const struct held *held, uint32_t uid);
/* By one user; uid, unless NULL, is his, and stays as it is when there is none. */
uint32_t held_most(const struct held *held, uint32_t *uid);

/* Whether the user gets nothing more of the pool for now: his released jobs hold more than three
 * times what is free, and more than a sixteenth of all; less than a quarter is free then. Of what
 * running jobs leave, n users who let their jobs hold as much as they can leave one part in 3n + 1,
 * as long as they are fewer than 16.
 */
bool held_too_much(const struct held *held, uint32_t uid, uint32_t available, uint32_t pool);
