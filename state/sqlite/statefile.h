#ifndef MCAST_STATE_SQLITE_STATEFILE_H
#define MCAST_STATE_SQLITE_STATEFILE_H

#include "base/error.h"

/* The SQLite keeper's file apart from what is in it: there, whole as far as its size tells,
 * private. The file's lock is held meanwhile. */

/* What path names in the end, so that a symbolic link to the file does not get a lock of its own;
 * path itself when there is nothing yet. Always with a '/': SQLite has a meaning of its own for
 * some names without. To be freed; NULL with errno set when the path leads nowhere. */
char *statefile_resolve(const char *path);

/* Makes an empty ledger when there is no file. Refuses what SQLite would take for a new or a sound
 * one without a word: an empty file, a log without its file, a file smaller than its header says.
 * Before SQLite has it open: closing a descriptor of the file would end SQLite's locks. */
int statefile_prepare(const char *path, struct error *err);

/* Takes all rights but the owner's from the file and its companions: a copy brought back from a
 * backup may be readable for all, and it holds tokens. Only for a file known to be a ledger. */
int statefile_make_private(const char *path, struct error *err);

#endif
