/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLIENT_TRANSPORT_LATER_H
#define MCAST_CLIENT_TRANSPORT_LATER_H

/* When a broker that said "not now" (mcast_later) is asked again: after a little at first, then
 * longer, and never after exactly as long as others, so that those who were put off together do not
 * come back together. */

#include <stdint.h>

struct later {
    unsigned last_ms; /* 0: the next pause is the first */
    unsigned dice;    /* 0: not thrown yet */
};

/* What stands before a broker that is restarted may say "in an hour" (Retry-After), and it is back
 * in seconds: it is not left alone for longer than this. */
enum { LATER_AFTER_MAX_MS = 60000 };
unsigned later_after(unsigned after_ms);

/* A pause in milliseconds: from 50 to 1,000 on top of after_ms, which is what the broker asked for,
 * as far as that is heeded. */
unsigned later_pause(struct later *later, unsigned after_ms);

/* Monotonic clock, in milliseconds. */
int64_t later_now_ms(void);

#endif
