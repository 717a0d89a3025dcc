/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Tries again until a time is over, with growing pauses, by the monotonic clock (F9). */

#include <stdbool.h>
#include <stdint.h>

struct retry_clock {
    int64_t (*now_ms)(void);
    void (*wait_ms)(int64_t ms);
};

/* CLOCK_MONOTONIC. */
extern const struct retry_clock retry_real;

struct retry {
    const struct retry_clock *clock;
    int64_t end_ms;
    int64_t pause_ms;
};

enum { RETRY_FIRST_MS = 20, RETRY_LONGEST_MS = 2000 };

/* budget_ms 0: one try only. */
void retry_begin(struct retry *retry, const struct retry_clock *clock, int64_t budget_ms);

/* How long it lasts yet; 0 or less: it is over. */
int64_t retry_left_ms(const struct retry *retry);

/* Pauses, at most until the end, and says that there is one more try; false when it is over. The
 * last try comes at the end itself. */
bool retry_pause(struct retry *retry);
