#ifndef MCAST_CLIENT_NARROWING_H
#define MCAST_CLIENT_NARROWING_H

/* What a program wants a token restricted to (struct mcast_narrowing). */

#include "client/mcast.h"

/* The narrowing as this version of the library knows it. MCAST_USAGE: it is not begun with
 * MCAST_NARROWING_INIT, or restricts more than is known here, which must not be dropped. */
int narrowing_adopt(struct mcast_narrowing *mine, const struct mcast_narrowing *given,
                    struct mcast_error *error);

#endif
