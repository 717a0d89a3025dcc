#include "client/narrowing.h"
#include "client/fault.h"

#include <string.h>

int narrowing_adopt(struct mcast_narrowing *mine, const struct mcast_narrowing *given,
                    struct mcast_error *error)
{
    static const struct mcast_narrowing defaults = MCAST_NARROWING_INIT;
    const unsigned char *bytes = (const unsigned char *)given;
    *mine = defaults;
    if (given->size < sizeof(size_t))
        return fault_set(error, MCAST_USAGE,
                         "the narrowing's size is not set; begin with MCAST_NARROWING_INIT");
    for (size_t i = sizeof(*mine); i < given->size; i++) {
        if (bytes[i] != 0)
            return fault_set(error, MCAST_USAGE,
                             "the program restricts more than libmcast %s knows; update libmcast",
                             MCAST_VERSION);
    }
    memcpy(mine, given, given->size < sizeof(*mine) ? given->size : sizeof(*mine));
    return 0;
}
