#ifndef MCAST_STATE_BATCH_H
#define MCAST_STATE_BATCH_H

#include "state/store.h"

#include <stdbool.h>

/* A batch as the keepers see it; store.h has what its makers need. Entries never move, so that a
 * keeper's thread may read them while the owner waits. */

struct batch_entry {
    struct batch_entry *next;
    struct record record; /* its strings lie behind it */
};

/* In the order in which they were added; NULL when there is none. */
const struct batch_entry *batch_first(const struct batch *batch);

/* The highest reservation number and event seq in it, those that it deletes included, 0 when it has
 * none: what RECORD_COUNTERS must not fall below once the batch is durable. */
uint64_t batch_last_number(const struct batch *batch);
uint64_t batch_last_seq(const struct batch *batch);

/* True when it deletes rows. Those that stay say which numbers were given out; with these, only the
 * counters do. */
bool batch_forgets(const struct batch *batch);

/* True when a RECORD_FOUNDED is in it. */
bool batch_founded(const struct batch *batch);

#endif
