#ifndef MCAST_STATE_SQLITE_FILELOCK_H
#define MCAST_STATE_SQLITE_FILELOCK_H

#include "base/error.h"

/* One owner for a file: flock on "<path>.lock", which holds the owner's pid for people.
 *
 * The kernel ends the lock with the process, however that ends. The lock file stays: removing it
 * would let two owners lock two files of the same name. */

/* Returns a descriptor to be closed when the file is no longer used, or a negative code:
 * ERROR_REFUSED when the file has an owner, in this process or another one. */
int filelock_take(const char *path, struct error *err);

#endif
