#ifndef MCAST_CLIENT_WAITS_H
#define MCAST_CLIENT_WAITS_H

/* How long a call goes on asking while it is told "not now" (mcast_set_patience). */

#include "client/mcast.h"
#include "client/pauses.h"
#include "client/transport.h"

/* As the program wants it of all calls. */
struct waits {
    unsigned ms; /* 0: none of them waits */
    mcast_wait_fn *on_wait;
    void *data;
};

/* One call's. */
struct waits_call {
    const struct waits *wanted;
    struct transport *transport; /* which mcast_stop stops */
    int64_t end_ms;
    struct pauses pauses;
};

void waits_begin(struct waits_call *call, const struct waits *wanted, struct transport *transport);

/* After a request that failed. True: it has paused, and the same is to be asked again. False:
 * *error stands, or there is not the time that the broker wants to be left alone for, or (then
 * *error is MCAST_STOPPED) the program stopped it. */
bool waits_again(struct waits_call *call, struct mcast_error *error);

#endif
