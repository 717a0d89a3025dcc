#ifndef MCAST_STATE_SQLITE_WALINDEX_H
#define MCAST_STATE_SQLITE_WALINDEX_H

#include <stdbool.h>
#include <stdint.h>

/* What SQLite's index of the ledger's log ("<path>-shm") says that was committed, if it outlived
 * the broker (sqlite.org/walformat.html, 2.1).
 *
 * SQLite itself makes the index anew when nobody has the ledger open. But it writes there how long
 * the log is after each commit's sync and not before, so that what is said there is true: of a
 * broker that was killed exactly, of a power cut perhaps less than it was. */

struct walindex {
    uint32_t frames;   /* committed, from the log's beginning */
    uint32_t salts[2]; /* of the log that they are in: those of its header */
};

/* False when there is no index, or none that can be believed. */
bool walindex_read(const char *path, struct walindex *index);

#endif
