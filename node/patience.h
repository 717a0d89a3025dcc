#ifndef MCAST_NODE_PATIENCE_H
#define MCAST_NODE_PATIENCE_H

/* Trying again until a time is over, with growing pauses, by a clock that nobody sets (F9). */

#include <stdbool.h>
#include <stdint.h>

struct patience_clock {
    int64_t (*now_ms)(void *arg);
    void (*wait_ms)(void *arg, int64_t ms);
    void *arg;
};

/* CLOCK_MONOTONIC. */
extern const struct patience_clock patience_real;

struct patience {
    const struct patience_clock *clock;
    int64_t end_ms;
    int64_t pause_ms;
};

enum { PATIENCE_FIRST_MS = 20, PATIENCE_LONGEST_MS = 2000 };

/* budget_ms 0: one try only. */
void patience_begin(struct patience *patience, const struct patience_clock *clock,
                    int64_t budget_ms);

/* How long it lasts yet; 0 or less: it is over. */
int64_t patience_left_ms(const struct patience *patience);

/* Pauses, at most until the end, and says that there is one more try; false when it is over. The
 * last try comes at the end itself. */
bool patience_again(struct patience *patience);

#endif
