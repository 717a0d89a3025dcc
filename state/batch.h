/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "state/store.h"

#include <stdbool.h>

/* A batch as a keeper sees it; store.h has what its owner needs. Entries never move, so a keeper's
 * thread may read them while the owner waits. */

struct batch_entry {
    struct batch_entry *next;
    size_t size; /* with the record's strings, which lie behind it */
    struct record record;
};

struct batch {
    struct batch_entry *first, **tail; /* in the order in which they were added */
    size_t count;
    /* The highest reservation number and event seq, deleted ones included; 0: none. Once the batch
     * is durable, RECORD_COUNTERS is not below them. */
    uint64_t last_number, last_seq;
    bool deletes; /* rows: without them, only the counters say which numbers were given out */
    bool founded; /* has a RECORD_FOUNDED */
};
