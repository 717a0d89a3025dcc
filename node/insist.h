#ifndef MCAST_NODE_INSIST_H
#define MCAST_NODE_INSIST_H

/* Asking a broker again that says "not now" (mcast_later): all nodes of a large job come to it at
 * once (F3), and it may be restarted just then. */

#include "node/node.h"
#include "node/patience.h"

struct insist {
    struct patience patience;
    bool for_absent; /* who needs an answer waits for a broker that is away, too */
    bool said;
};

/* For one call, as long as node.conf's busy_retry says. for_absent: also where nobody listens; else
 * whoever only has something to tell, and can tell it later, is not held up. */
void insist_begin(struct insist *insist, const struct node *node, bool for_absent);

/* After a call that failed. True: it has paused, the first time that nobody listens after a
 * message, and the same is to be asked again. False: the answer stands, or the time is over. */
bool insist_again(struct insist *insist, const struct mcast_error *error);

#endif
