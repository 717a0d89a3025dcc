/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_HOOK_DEADLINE_H
#define MCAST_HOOK_DEADLINE_H

#include <stdint.h>

/* When the hook gives up: a moment of the monotonic clock. */

struct deadline {
    int64_t at_ms;
};

struct deadline deadline_in(int64_t ms);

/* Milliseconds until then, 0 when it is over. */
int64_t deadline_left(const struct deadline *deadline);

/* Sleeps so long, or until then if that is sooner. */
void deadline_pause(const struct deadline *deadline, int64_t ms);

#endif
