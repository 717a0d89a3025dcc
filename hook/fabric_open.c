/* Of the work: how the way straight to the fabric manager is found. */

#include "hook/fabric.h"
#include "hook/object.h"

#include <string.h>

enum outcome fabric_clean(const struct surroundings *surroundings, bool below,
                          const struct deadline *deadline, struct error *err)
{
    fabric_fn *clean;
    void *symbol = object_open(FABRIC_OBJECT, FABRIC_SYMBOL, err);
    if (!symbol)
        return OUTCOME_REFUSED;
    memcpy(&clean, &symbol, sizeof clean);
    return clean(surroundings, below, deadline, err);
}
