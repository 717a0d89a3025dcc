#ifndef MCAST_HOOK_VIAFABRIC_H
#define MCAST_HOOK_VIAFABRIC_H

#include "hook/deadline.h"
#include "hook/outcome.h"
#include "hook/surroundings.h"

/* A step cleaned up straight at the fabric manager, with the job's session token, in whichever way
 * that opens (docs/mock-fm.md, "What a session token opens"). */

/* below: also the steps below it. Ends by the deadline. */
enum outcome viafabric_clean(const struct surroundings *surroundings, bool below,
                             const struct deadline *deadline, struct error *err);

#endif
