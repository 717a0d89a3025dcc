/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <sys/stat.h>

/* The SQLite keeper's file apart from its contents: present, complete as far as its size shows,
 * private, locked, not replaced while in use. Companions are named by a suffix: "-wal", "-shm". */

/* What path names in the end, so that a symbolic link to the file does not get a lock of its own;
 * path itself when there is no file yet. Always with a '/': SQLite treats some names without one
 * specially. To be freed; NULL with errno set when the path leads nowhere. */
char *statefile_resolve(const char *path);

/* As stat and open (O_CLOEXEC, mode 0600) of the file or a companion: -1 with errno. */
int statefile_stat(const char *path, const char *suffix, struct stat *status);
int statefile_open(const char *path, const char *suffix, int flags);

/* One owner for the file: flock on "<path>.lock", which holds the owner's pid for administrators.
 * The kernel drops the lock when the process ends. The lock file stays: removing it would let two
 * owners lock two files of the same name. Returns a descriptor, to be closed when the file is no
 * longer used, or a negative code: ERROR_REFUSED when the file has an owner. */
int statefile_lock(const char *path, struct error *err);

/* Creates an empty ledger when there is no file. Refuses what SQLite would silently take for a new
 * or complete one: an empty file, a log without its file, a file smaller than its header says. The
 * lock is held. Call it before SQLite opens the file: closing a descriptor of the file would drop
 * SQLite's locks. */
int statefile_prepare(const char *path, struct error *err);

/* Takes all rights but the owner's from the file and its companions, which hold tokens: a copy
 * restored from a backup may be readable for all. Only for a file known to be a ledger. */
int statefile_make_private(const char *path, struct error *err);

/* Whether the file and its log are still those that SQLite has open: it would keep writing to files
 * that were removed or replaced, and acknowledged records would be lost with the process. */
enum { STATEFILE_WATCHED = 2 };

struct statefile_watch {
    const char *path;
    struct {
        dev_t device;
        ino_t inode;
    } files[STATEFILE_WATCHED];
};

/* Records which files are there now. path outlives it. 0 or ERROR_IO. */
int statefile_watch_begin(struct statefile_watch *watch, const char *path, struct error *err);

/* ERROR_IO when other files, or none, are there. Two calls of stat. */
int statefile_watch_check(const struct statefile_watch *watch, struct error *err);
