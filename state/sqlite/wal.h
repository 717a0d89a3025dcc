#ifndef MCAST_STATE_SQLITE_WAL_H
#define MCAST_STATE_SQLITE_WAL_H

#include "base/error.h"

/* The ledger's write-ahead log ("<path>-wal"), looked at before SQLite does: is all of it there
 * that was committed? (sqlite.org/fileformat2.html, 4)
 *
 * SQLite takes the first frame that does not check for the end of the log, as a power cut leaves
 * it, and forgets what was committed behind it without a word: not only the last jobs, but pages
 * that had been written back into the ledger meanwhile are mixed with older ones. */

/* Syncs the log, too: what a killed broker had written and not yet synced is about to be read as
 * committed, and shown (I2). No log is a good log. Before SQLite has the ledger open.
 *
 * Returns 0; ERROR_CORRUPT when something that was committed is damaged or missing; ERROR_IO. Not
 * to be told from a power cut, and so no damage, is what happens to the last transaction alone
 * when the log's index is gone, too. */
int wal_check(const char *path, struct error *err);

#endif
