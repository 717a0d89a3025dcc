#ifndef MCAST_HOOK_FABRIC_H
#define MCAST_HOOK_FABRIC_H

#include "hook/deadline.h"
#include "hook/outcome.h"
#include "hook/surroundings.h"

/* viafabric.h in a shared object of its own, opened when the broker does not answer: it is what
 * needs libcurl and libcrypto, and the thirty libraries below them. */

#define FABRIC_OBJECT "mcast-cleanup-fabric.so"
#define FABRIC_SYMBOL "mcast_cleanup_fabric"

/* As viafabric_clean, with libcurl made ready before. */
typedef enum outcome fabric_fn(const struct surroundings *surroundings, bool below,
                               const struct deadline *deadline, struct error *err);

/* Opens it, and calls it. One that cannot be opened is a refusal: it will not be there later
 * either. */
fabric_fn fabric_clean;

#endif
