/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_NODE_RETRY_H
#define MCAST_NODE_RETRY_H

/* Tries again until a time is over, with growing pauses, by the monotonic clock (F9). */

#include "client/mcast.h"

#include <stdbool.h>
#include <stdint.h>

struct retry_clock {
    int64_t (*now_ms)(void *arg);
    void (*wait_ms)(void *arg, int64_t ms);
    void *arg;
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

/* Asks a broker again that says "not now" (mcast_later): all nodes of a large job come to it at
 * once (F3), and it may be in a restart. */
struct broker_retry {
    struct retry retry;
    bool for_absent; /* also while no broker listens */
    bool said;
};

/* For one call, for as long as busy_ms (node.conf: busy_retry). for_absent: for a caller that needs
 * the answer; a caller whose report can be sent later is not delayed. */
void broker_retry_begin(struct broker_retry *retry, int64_t busy_ms, bool for_absent);

/* After a call that failed. True: it has paused, with a message the first time that no broker
 * listens, and the call is to be made again. False: the answer is final, or the time is over. */
bool broker_retry_again(struct broker_retry *retry, const struct mcast_error *error);

#endif
