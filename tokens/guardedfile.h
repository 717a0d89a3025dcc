#ifndef MCAST_TOKENS_GUARDEDFILE_H
#define MCAST_TOKENS_GUARDEDFILE_H

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

/* Small files that hold keys: mode 0600, whole and durable or not there, and not read where others
 * could read or change them. */

/* How messages speak of one. */
struct guardedfile_kind {
    const char *what;     /* "key file" */
    const char *setting;  /* where its path is configured: "[state] key_file" */
    const char *precious; /* why one that is there stays: "it may be what opens a ledger" */
    const char *advice;   /* what to do when it cannot be made */
};

/* Makes it, for this user and group ((uid_t)-1, (gid_t)-1: those of the process). ERROR_REFUSED:
 * there is a file of this name already, which stays as it is. ERROR_FULL, ERROR_IO, ERROR_NOMEM. */
int guardedfile_create(const char *path, const struct guardedfile_kind *kind, const char *text,
                       size_t size, uid_t owner, gid_t group, struct error *err);

/* Puts this text in the place of the file that is open as old (of the same path), for its user and
 * group: whoever opens the path has the one or the other, whatever happens meanwhile. The same
 * errors. */
int guardedfile_replace(const char *path, const struct guardedfile_kind *kind, int old,
                        const char *text, size_t size, struct error *err);

/* Opens it for reading, and never waits: a descriptor, to be closed. ERROR_NOT_FOUND: there is
 * none. ERROR_REFUSED: others may read or change it. ERROR_INVALID: it is no regular file.
 * ERROR_IO. */
int guardedfile_open(const char *path, const struct guardedfile_kind *kind, struct error *err);

/* Reads from its beginning up to room bytes: how many there were. Room for one more than there may
 * be shows what is too long. ERROR_IO. */
int guardedfile_read(int file, const char *path, const struct guardedfile_kind *kind, char *text,
                     size_t room, struct error *err);

#endif
