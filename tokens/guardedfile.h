/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

/* Writes small files that hold keys: mode 0600, complete and durable or not there. They are read by
 * trust/keyfile.h. */

/* For messages. */
struct guardedfile_kind {
    const char *what;     /* "key file" */
    const char *precious; /* why one that is there stays: "it may be what opens a ledger" */
    const char *advice;   /* what to do when it cannot be made */
};

/* Creates it, for this user and group ((uid_t)-1, (gid_t)-1: those of the process). ERROR_REFUSED:
 * the file exists, and stays unchanged. ERROR_FULL, ERROR_IO. */
int guardedfile_create(const char *path, const struct guardedfile_kind *kind, const char *text,
                       size_t size, uid_t owner, gid_t group, struct error *err);

/* Replaces the file that is open as old (of the same path) atomically, for its user and group. The
 * same errors. */
int guardedfile_replace(const char *path, const struct guardedfile_kind *kind, int old,
                        const char *text, size_t size, struct error *err);

/* Makes the name of a file durable: fsync of its folder. -1 with errno. */
int guardedfile_sync_folder(const char *path);
