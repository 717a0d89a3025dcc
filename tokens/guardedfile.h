/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TOKENS_GUARDEDFILE_H
#define MCAST_TOKENS_GUARDEDFILE_H

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

/* Small files that hold keys: mode 0600, complete and durable or not there, and refused when others
 * could read or change them. */

/* For messages. */
struct guardedfile_kind {
    const char *what;     /* "key file" */
    const char *setting;  /* where its path is configured: "[state] key_file" */
    const char *precious; /* why one that is there stays: "it may be what opens a ledger" */
    const char *advice;   /* what to do when it cannot be made */
};

/* Creates it, for this user and group ((uid_t)-1, (gid_t)-1: those of the process). ERROR_REFUSED:
 * the file exists, and stays unchanged. ERROR_FULL, ERROR_IO, ERROR_NOMEM. */
int guardedfile_create(const char *path, const struct guardedfile_kind *kind, const char *text,
                       size_t size, uid_t owner, gid_t group, struct error *err);

/* Replaces the file that is open as old (of the same path) atomically, for its user and group. The
 * same errors. */
int guardedfile_replace(const char *path, const struct guardedfile_kind *kind, int old,
                        const char *text, size_t size, struct error *err);

/* Opens it for reading without blocking: a descriptor, to be closed. ERROR_NOT_FOUND.
 * ERROR_REFUSED: others may read or change it. ERROR_INVALID: no regular file. ERROR_IO. */
int guardedfile_open(const char *path, const struct guardedfile_kind *kind, struct error *err);

/* Reads up to size bytes from its beginning and returns how many. One byte more than allowed shows
 * that the file is too long. ERROR_IO. */
int guardedfile_read(int file, const char *path, const struct guardedfile_kind *kind, char *text,
                     size_t size, struct error *err);

/* Makes the name of a file durable: fsync of its folder. -1 with errno. */
int guardedfile_sync_folder(const char *path);

#endif
