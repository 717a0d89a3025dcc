#ifndef MCAST_CLIENT_PAUSES_H
#define MCAST_CLIENT_PAUSES_H

/* How long to wait before a broker that said "not now" (mcast_later) is asked again: a little at
 * first, then longer, and never for exactly as long as others, so that those who were put off
 * together do not come back together. */

#include <stdint.h>

struct pauses {
    unsigned last_ms; /* 0: the next one is the first */
    unsigned dice;    /* 0: not thrown yet */
};

/* Whoever stands before a broker that is restarted may say "in an hour" (Retry-After), and it is
 * back in seconds: it is not left alone for longer than this. */
enum { PAUSES_AFTER_MAX_MS = 60000 };
unsigned pauses_after(unsigned after_ms);

/* In milliseconds: from 50 to 1,000 on top of after_ms, which is what the broker asked for, as far
 * as that is heeded. */
unsigned pauses_next(struct pauses *pauses, unsigned after_ms);

/* It answers: the next pause is the first again. */
void pauses_end(struct pauses *pauses);

#endif
