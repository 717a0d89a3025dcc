/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_HOOK_CLEANUP_H
#define MCAST_HOOK_CLEANUP_H

#include "hook/deadline.h"
#include "hook/environment.h"

/* Cleans up after one step: which service to ask, and when to ask again (F19). */

/* The result of asking a service to remove a step's trees, from good to bad. All but DONE have a
 * sentence in err. */
enum outcome {
    OUTCOME_DONE,    /* they are gone, or the broker removes them */
    OUTCOME_PENDING, /* the broker removes them, and the wait is over */
    OUTCOME_REFUSED, /* a final no, also to the same request later */
    OUTCOME_LATER,   /* too busy: the same service may be asked again */
    OUTCOME_ABSENT,  /* no usable answer: another service may be asked, or this one again */
};

struct cleanup {
    bool below; /* also the steps below it */
    bool wait;  /* until the trees are gone */
};

/* Asks the broker first, and the fabric manager itself if the broker does not answer; repeats until
 * the deadline while neither answers. SIGPIPE must be ignored. */
enum outcome cleanup_run(const struct environment *environment, const struct cleanup *cleanup,
                         const struct deadline *deadline, struct error *err);

#endif
