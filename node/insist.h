#ifndef MCAST_NODE_INSIST_H
#define MCAST_NODE_INSIST_H

/* Asking again a broker that is busy: all nodes of a large job come to it at once (F3). */

#include "node/node.h"
#include "node/patience.h"

struct insist {
    struct patience patience;
};

/* For one call, as long as node.conf's busy_retry says. */
void insist_begin(struct insist *insist, const struct node *node);

/* After a call that failed. True: it has paused, and the same is to be asked again. False: the
 * answer stands, or nobody listens, or the time is over. */
bool insist_again(struct insist *insist, const struct mcast_error *error);

/* Whether the error says that the broker, or the way to it, has too much to do. */
bool insist_is_busy(const struct mcast_error *error);

#endif
