#ifndef MCAST_HOOK_CLEANUP_H
#define MCAST_HOOK_CLEANUP_H

#include "hook/deadline.h"
#include "hook/outcome.h"
#include "hook/surroundings.h"

/* Cleaning up after one step: whom to ask, and when again (F19). */

struct cleanup {
    bool below; /* also the steps below it */
    bool wait;  /* until the trees are gone */
};

/* The broker first, and the fabric manager itself where that does not answer; again and again until
 * the deadline, if neither does. SIGPIPE must be ignored. */
enum outcome cleanup_run(const struct surroundings *surroundings, const struct cleanup *cleanup,
                         const struct deadline *deadline, struct error *err);

#endif
