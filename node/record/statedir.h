/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The directory in which a node remembers what it made, and the locks of those who change it.
 *
 * Locks are bytes of one file: 0 is the NICs', one the boot's, the others are jobs' (jobsvc_lock).
 * A process that dies releases its locks. Order: a job's first, then the NICs'. */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct statedir {
    int directory; /* -1: there is none */
    int lock;      /* -1: nothing may be changed */
    char path[256];
};

enum { STATEDIR_NICS = 0 };
#define STATEDIR_BOOT (UINT64_C(1) << 33)  /* alone: no other is taken with it */
#define STATEDIR_ENDED (STATEDIR_BOOT + 1) /* the last, and for a moment */

/* change: makes it if need be, closes it to other users, and allows locks; else one that is not
 * there, or not to be read, is as empty. ERROR_IO; ERROR_REFUSED: it belongs to another user. */
int statedir_open(struct statedir *dir, const char *path, bool change, struct error *err);
void statedir_close(struct statedir *dir);

/* Waits. ERROR_IO. Held until unlocked or closed. */
int statedir_lock(const struct statedir *dir, uint64_t which, struct error *err);
/* False: another process has it. */
bool statedir_try_lock(const struct statedir *dir, uint64_t which);
void statedir_unlock(const struct statedir *dir, uint64_t which);

/* A whole file with a NUL after it, for free(); ERROR_NOT_FOUND, ERROR_IO. */
int statedir_read(const struct statedir *dir, const char *name, char **text, struct error *err);

/* Atomic: a reader sees the whole old file or the whole new one, whichever process dies. Nothing
 * waits for the disk: what only a start of the machine can lose is about services that no start of
 * the machine leaves, and a file may be empty then. */
int statedir_write(const struct statedir *dir, const char *name, const char *text,
                   struct error *err);
int statedir_remove(const struct statedir *dir, const char *name, struct error *err);

/* The kernel's boot id; "" if it cannot be read. */
enum { STATEDIR_BOOT_SIZE = 40 };
const char *statedir_boot(void);
