#ifndef MCAST_HOOK_VIABROKER_H
#define MCAST_HOOK_VIABROKER_H

#include "hook/outcome.h"
#include "hook/surroundings.h"

#include <stdint.h>

/* A step cleaned up by the broker, which sees to it once it has accepted. */

/* below: also the steps below it. wait_ms: so long at most for the trees to be gone; 0: once it has
 * accepted, that is DONE. It may take limit_ms besides. */
enum outcome viabroker_clean(const struct surroundings *surroundings, bool below, int64_t limit_ms,
                             int64_t wait_ms, struct error *err);

#endif
