#ifndef MCAST_HOOK_WORK_H
#define MCAST_HOOK_WORK_H

#include "hook/cleanup.h"

/* All of the hook that talks to anybody, in a shared object of its own, opened when nobody waits
 * any more: with it come libraries, which take longer to load than all that is done before. */

#define WORK_OBJECT "mcast-cleanup-work.so"
#define WORK_SYMBOL "mcast_cleanup_work"

/* As cleanup_run. */
typedef enum outcome work_fn(const struct surroundings *surroundings, const struct cleanup *cleanup,
                             const struct deadline *deadline, struct error *err);

/* Opens it, where it lies beside the program; it stays open. NULL with a sentence in err. */
work_fn *work_open(struct error *err);

#endif
